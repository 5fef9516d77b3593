package spending

import (
	"maps"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// amount is what requests cost.
type amount struct {
	// USD is the cost of the requests with a known price; Unpriced counts the others.
	USD      float64 `json:"usd"`
	Unpriced int64   `json:"unpriced,omitempty"`
}

// share is what one pod spent on each day, such as "2026-01-31".
type share struct {
	// UpTo is the last entry that counts in Days.
	UpTo item.Seq          `json:"up_to"`
	Days map[string]amount `json:"days"`
	// after is the last entry that need not be read from the log. from is the first entry that
	// was counted when it was stored; 0 before one was.
	after, from item.Seq
}

func (s *share) add(day string, a amount) {
	sum := s.Days[day]
	s.Days[day] = amount{USD: sum.USD + a.USD, Unpriced: sum.Unpriced + a.Unpriced}
}

func (s *share) clone() *share { return &share{UpTo: s.UpTo, after: s.UpTo, Days: maps.Clone(s.Days)} }

// ledger is what pods spent since a day, by the prices of models.
type ledger struct {
	models fold.Models
	since  string
	shares map[string]*share
}

// request is an entry with a usage.
type request struct {
	seq  item.Seq
	time time.Time
	item.RequestUsage
}

func (l *ledger) of(pod string) *share {
	s := l.shares[pod]
	if s == nil {
		s = &share{Days: make(map[string]amount)}
		l.shares[pod] = s
	}
	return s
}

// amount is the cost of one request. That of a sub-pod's requests is in its own log.
func (l *ledger) amount(u item.RequestUsage) amount {
	if u.Purpose == item.PurposeSubPod {
		return amount{}
	}
	if usd, known := l.models.Cost(u); known {
		return amount{USD: usd}
	}
	return amount{Unpriced: u.Usage.Requests}
}

// stored counts a request that was just stored. Those of one pod come in their order.
func (l *ledger) stored(pod string, r request, loc *time.Location) {
	s := l.of(pod)
	if s.from == 0 {
		s.from = r.seq
	}
	if r.seq > s.UpTo {
		s.UpTo = r.seq
		s.add(day(r.time, loc), l.amount(r.RequestUsage))
	}
}

// read counts requests of a log that may have been counted when they were stored.
func (l *ledger) read(pod string, all []request, loc *time.Location) {
	s := l.of(pod)
	for _, r := range all {
		if s.from == 0 || r.seq < s.from {
			s.add(day(r.time, loc), l.amount(r.RequestUsage))
			s.UpTo = max(s.UpTo, r.seq)
		}
	}
}

// spent is the sum of a day and of the later ones.
func (l *ledger) spent(today string) amount {
	var sum amount
	for _, s := range l.shares {
		for day, a := range s.Days {
			if day >= today {
				sum.USD += a.USD
				sum.Unpriced += a.Unpriced
			}
		}
	}
	return sum
}

func day(t time.Time, loc *time.Location) string { return t.In(loc).Format(time.DateOnly) }

// nextDay is the midnight that follows a time.
func nextDay(t time.Time) time.Time {
	year, month, d := t.Date()
	next := time.Date(year, month, d+1, 0, 0, 0, 0, t.Location())
	if next.Day() == d {
		// There is no midnight on a day whose first hour is skipped.
		next = next.Add(time.Hour)
	}
	return next
}
