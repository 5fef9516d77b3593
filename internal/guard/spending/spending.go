package spending

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"podd/pkg/fold"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/store"
)

// Name is that of the interceptor.
const Name = "spending"

// Config configures a Spending. All fields are required.
type Config struct {
	// File keeps what the logs no longer say.
	File string
	// Now is the clock; its location has the days.
	Now func() time.Time
	// Alert raises an alert for a person.
	Alert  func(text string)
	Logger *slog.Logger
}

// Spending counts what pods spend and holds it to a limit. It is an interceptor.
type Spending struct {
	Config
	interceptor.RequestsOnly
	store store.Store
	// building is locked while logs are read, and while one loses entries; saving while the
	// file is written.
	building, saving sync.Mutex

	// mu guards the fields below. It is never locked during I/O.
	mu sync.Mutex
	// cap is the limit in USD; 0 for no limit. again is closed when it changes.
	cap   float64
	again chan struct{}
	// current is the ledger of the limit, nil without one; counting are all that requests are
	// added to: current, and those that are being made.
	current  *ledger
	counting []*ledger
	file     record
}

// New is a Spending without a limit over the pods of a store, and the store through which
// all changes have to go from now on.
func New(c Config, s store.Store) (*Spending, store.Store, error) {
	file, err := readRecord(c.File)
	if err != nil {
		return nil, nil, err
	}
	p := &Spending{Config: c, store: s, again: make(chan struct{}), file: file}
	return p, counted{s, p}, nil
}

func (s *Spending) location() *time.Location { return s.Now().Location() }

// Prepare reads what a limit of usd a day needs; 0 is no limit, and needs nothing. The limit
// applies once use is called; drop forgets it instead. One of them has to be called before
// the next Prepare.
func (s *Spending) Prepare(ctx context.Context, usd float64, models fold.Models) (use, drop func(), err error) {
	s.mu.Lock()
	next, before := s.current, s.current
	same := s.cap == usd
	s.mu.Unlock()
	switch {
	case usd == 0:
		next = nil
	case next == nil || next.models.String() != models.String():
		same = false
		if next, err = s.build(ctx, models, day(s.Now(), s.location())); err != nil {
			return nil, nil, err
		}
	}
	use = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if same {
			return
		}
		s.cap = usd
		if next != before {
			s.replace(next)
		}
		close(s.again)
		s.again = make(chan struct{})
	}
	drop = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if next != before {
			s.forget(next)
		}
	}
	return use, drop, nil
}

// replace makes a ledger the current one.
func (s *Spending) replace(next *ledger) {
	s.forget(s.current)
	s.current = next
}

// forget adds no further requests to a ledger.
func (s *Spending) forget(old *ledger) {
	s.counting = slices.DeleteFunc(s.counting, func(l *ledger) bool { return l == old })
}

// build makes a ledger of what the logs say since a day. From now on requests are added to it.
func (s *Spending) build(ctx context.Context, models fold.Models, since string) (*ledger, error) {
	s.building.Lock()
	defer s.building.Unlock()
	l := &ledger{models: models, since: since, shares: make(map[string]*share)}
	s.mu.Lock()
	for pod, kept := range s.file.Pods {
		l.shares[pod] = kept.clone()
	}
	s.counting = append(s.counting, l)
	s.mu.Unlock()
	err := s.scan(ctx, l)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(l)
	}
	return l, err
}

// stored counts a request.
func (s *Spending) stored(pod string, r request) {
	loc := s.location()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.counting {
		l.stored(pod, r, loc)
	}
}

// keep writes what a pod spent to the file, before its log loses entries.
func (s *Spending) keep(ctx context.Context, pod string) error {
	s.building.Lock()
	defer s.building.Unlock()
	s.mu.Lock()
	l := s.current
	if l == nil {
		s.mu.Unlock()
		return nil
	}
	after := l.of(pod).UpTo
	s.mu.Unlock()
	var all []request
	rec, err := s.store.Pod(ctx, pod)
	if err == nil {
		// A request may be stored and not counted yet.
		if all, err = s.requests(ctx, rec, after, l.since); err != nil {
			return err
		}
	} else {
		// Also a pod with a damaged record can be deleted.
		rec.ID, rec.Name = pod, pod
	}
	now := s.Now()
	s.mu.Lock()
	for _, r := range all {
		l.stored(pod, r, now.Location())
	}
	kept := l.of(pod).clone()
	next := s.file.with(rec.ID, kept, day(now.AddDate(0, 0, -keptDays), now.Location()))
	s.mu.Unlock()
	if len(kept.Days) == 0 {
		return nil
	}
	if err := s.save(func(r *record) { r.Pods = next.Pods }); err != nil {
		e := item.Errorf(item.KindUnavailable, "SPENDING", "cannot record in %s what pod %s spent today, so its entries stay: free some disk space, or remove limits.max_cost_per_day", s.File, rec.Name)
		e.Cause = err
		return e
	}
	return nil
}

// save changes the file.
func (s *Spending) save(change func(*record)) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	change(&s.file)
	now := s.file
	s.mu.Unlock()
	return paths.WriteRecord(s.File, now)
}

// Name is shown as the cause of a pause.
func (s *Spending) Name() string { return Name }

// BeforeRequest pauses the pod until the next day once the limit is reached.
func (s *Spending) BeforeRequest(ctx context.Context, r interceptor.Request) interceptor.RequestVerdict {
	s.mu.Lock()
	limit, again := s.cap, s.again
	s.mu.Unlock()
	if limit == 0 {
		return r.Continue()
	}
	now := s.Now()
	today := day(now, now.Location())
	s.reachBack(ctx, today)
	spent := s.Status()
	if spent.USD < limit {
		return r.Continue()
	}
	s.tell(today, limit, spent)
	return r.PauseUntil(fmt.Sprintf("%s of %s spent today (limits.max_cost_per_day)", money(spent.USD), money(limit)), spent.NextDay, again)
}

// reachBack reads more of the logs when the clock was set back to a day that the ledger
// lacks.
func (s *Spending) reachBack(ctx context.Context, today string) {
	s.mu.Lock()
	l := s.current
	s.mu.Unlock()
	if l == nil || today >= l.since {
		return
	}
	next, err := s.build(ctx, l.models, today)
	if err != nil {
		s.Logger.Error("cannot read what was spent on a day to which the clock was set back", "day", today, "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == l {
		s.replace(next)
	} else {
		s.forget(next)
	}
}

// tell raises the one alert about a day and a limit.
func (s *Spending) tell(today string, limit float64, spent Status) {
	s.mu.Lock()
	told := s.file.ToldDay >= today && s.file.ToldCap == limit
	s.file.ToldDay, s.file.ToldCap = today, limit
	s.mu.Unlock()
	if told {
		return
	}
	s.Alert(fmt.Sprintf("%s of %s spent today (limits.max_cost_per_day): pods wait until %s; podctl resume POD lets a turn go on, podctl reload takes a higher limit",
		money(spent.USD), money(limit), spent.NextDay.Format("2006-01-02 15:04")))
	if err := s.save(func(*record) {}); err != nil {
		s.Logger.Warn("cannot record that the alert about the daily limit was raised", "error", err)
	}
}

// Status is what was spent on this day. Without a limit it is zero: nothing is counted.
type Status struct {
	// Cap and USD are the limit and what counts towards it.
	Cap, USD float64
	// Unpriced counts the requests without a known price, which do not.
	Unpriced int64
	// NextDay is when the next day begins.
	NextDay time.Time
}

// Status is the current one.
func (s *Spending) Status() Status {
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return Status{}
	}
	spent := s.current.spent(day(now, now.Location()))
	return Status{Cap: s.cap, USD: spent.USD, Unpriced: spent.Unpriced, NextDay: nextDay(now)}
}

// money is an amount for people, exact enough to tell small ones apart.
func money(usd float64) string {
	if usd < 1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
