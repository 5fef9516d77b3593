package triggers

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// definition is the object of an entry that sets a trigger.
type definition struct {
	// Pod is the id of the pod that it belongs to: a fork has the entry too.
	Pod  string `json:"pod"`
	ID   string `json:"id"`
	Name string `json:"name"`
	// By is who set it, Added when it was first set. Own says that the pod's model did.
	By    string    `json:"by,omitempty"`
	Own   bool      `json:"own,omitempty"`
	Added time.Time `json:"added"`
	// Salt changes the secret of its webhook.
	Salt string `json:"salt,omitempty"`
	Spec
}

// standing is the object of an entry that says how a trigger stands.
type standing struct {
	Pod string `json:"pod"`
	ID  string `json:"id"`
	state
}

// state is how a trigger stands.
type state struct {
	// Fires counts them. Cursor is the time up to which each due time has its receipt; AfterSeq the same for the log of the
	// pod of After.
	Fires    int64     `json:"fires"`
	Cursor   time.Time `json:"cursor"`
	AfterSeq item.Seq  `json:"after_seq,omitempty"`
	// Under are the fires whose turns have not ended, oldest first.
	Under []under `json:"under,omitempty"`
	// Recent are the times of submits of the last minute; Today and Spent count those of Day, and what its turns cost.
	Recent []time.Time `json:"recent,omitempty"`
	Day    string      `json:"day,omitempty"`
	Today  int         `json:"today,omitempty"`
	Spent  float64     `json:"spent,omitempty"`
	// Told says that an alert told of the spent budget of Day.
	Told bool `json:"told,omitempty"`
	// Failed counts the last turns that failed.
	Failed int `json:"failed,omitempty"`
	// Paused says why it is paused; empty if it is not.
	Paused string `json:"paused,omitempty"`
	// Last is the newest receipt, in a few words.
	Last string `json:"last,omitempty"`
	// saw is what it saw of its files, which is an entry of its own; nil without files.
	saw *sight
}

// under is a fire whose turn has not ended.
type under struct {
	N    int64    `json:"n"`
	Pod  string   `json:"pod"`
	Name string   `json:"name,omitempty"`
	Seq  item.Seq `json:"seq"`
	// began says that a turn has the submit. The log of the pod knows it.
	began bool
}

// due is the object of an entry that counts a fire.
type due struct {
	Pod string    `json:"pod"`
	ID  string    `json:"id"`
	N   int64     `json:"n"`
	Due time.Time `json:"due"`
	// Missed are the due times before it that did not fire.
	Missed int `json:"missed,omitempty"`
	// Event is the id of an event, Data its text. Ended is the turn of After, Files are the changes of File.
	Event string `json:"event,omitempty"`
	Data  string `json:"data,omitempty"`
	Ended string `json:"ended,omitempty"`
	Files string `json:"files,omitempty"`
}

// fired is the object of an entry by which a fire has its submit, or can never have it.
type fired struct {
	Pod string `json:"pod"`
	ID  string `json:"id"`
	N   int64  `json:"n"`
	// To and Name are the pod that got the submit, Seq is its entry there.
	To    string   `json:"to,omitempty"`
	Name  string   `json:"name,omitempty"`
	Seq   item.Seq `json:"seq,omitempty"`
	Cause string   `json:"cause,omitempty"`
}

// ended is the object of an entry that says how the turn of a fire ended.
type ended struct {
	Pod     string  `json:"pod"`
	ID      string  `json:"id"`
	N       int64   `json:"n"`
	Turn    int64   `json:"turn,omitempty"`
	Outcome string  `json:"outcome"`
	Cause   string  `json:"cause,omitempty"`
	Cost    float64 `json:"cost,omitempty"`
}

// passed is the object of an entry about due times that did not fire.
type passed struct {
	Pod string `json:"pod"`
	ID  string `json:"id"`
	// What is missed, joined or skipped; Why says more.
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
	// Count is how many due times, from First to Last. Event is the id of an event.
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Event string    `json:"event,omitempty"`
}

// The words of passed.
const (
	missed  = "missed"
	merged  = "joined"
	skipped = "skipped"
)

// trigger is a trigger of a pod in memory, as the log says.
type trigger struct {
	definition
	state
	// set, at and filed are the entries of the definition, of the state and of what it saw of its files.
	set, at, filed item.Seq
	// open are the due entries without a submit, oldest first.
	open []opened
	// next are its times; nil if it has none.
	next func(time.Time) time.Time
	zone *time.Location
	// ids are the ids of events that fired, with the numbers of their fires; nil until they are read.
	ids map[string]known
	// seen is how far the log of the pod of After was read; far says that another podd may write it.
	seen item.Seq
	far  bool
	// view is what is known of its files. Only a look at the pod uses it.
	view view
}

// opened is a due entry. tried says that a pod may have its prompt: this podd began to submit it, or an earlier one had it.
type opened struct {
	due
	seq   item.Seq
	tried bool
}

// known is an event that podd had.
type known struct {
	n   int64
	at  time.Time
	seq item.Seq
}

// late is how old a due time is that counts as missed.
const late = time.Minute

// maxDues bounds how many missed due times are counted.
const maxDues = 100_000

// on is the state at a time, with the counts of its day and minute.
func (t *trigger) on(now time.Time) state {
	s := t.state
	if day := now.In(t.zone).Format(time.DateOnly); day != s.Day {
		s.Day, s.Today, s.Spent, s.Told = day, 0, 0, false
	}
	s.Recent = slices.DeleteFunc(slices.Clone(s.Recent), func(at time.Time) bool { return now.Sub(at) >= time.Minute || at.After(now) })
	return s
}

// spent says that the turns of the day have cost what they may.
func (t *trigger) spent(s state) bool { return t.Budget > 0 && s.Spent >= t.Budget }

// waits says that a fire waits, here or in the inbox of its pod.
func (t *trigger) waits(s state) bool {
	return len(t.open) > 0 || slices.ContainsFunc(s.Under, func(u under) bool { return !u.began })
}

// decide says what becomes of a due time: it fires if what is empty.
func (t *trigger) decide(s state) (what, why string) {
	switch {
	case s.Paused != "":
		return skipped, "paused: " + s.Paused
	case t.spent(s):
		return skipped, "the budget of the day is spent"
	case t.Skip && (len(t.open) > 0 || len(s.Under) > 0):
		return skipped, "an earlier fire waits or works"
	}
	return "", ""
}

// decideBehind is decide for a due time that can join a fire: one that waits, or one of fires, which are due just before it.
func (t *trigger) decideBehind(s state, fires []due) (what, why string) {
	what, why = t.decide(s)
	if what == "" && (t.waits(s) || len(fires) > 0) {
		return merged, "an earlier fire waits"
	}
	return what, why
}

// plan says what becomes of the due times after the cursor, up to now. Nothing does while the trigger is paused.
func (t *trigger) plan(now time.Time) (s state, fires []due, receipts []passed) {
	s = t.on(now)
	if t.next == nil || s.Paused != "" {
		return s, nil, nil
	}
	var before []time.Time // Missed.
	var prompt []time.Time
	for at := t.next(s.Cursor); !at.IsZero() && !at.After(now); at = t.next(at) {
		if s.Cursor = at; now.Sub(at) > late {
			before = append(before, at)
		} else {
			prompt = append(prompt, at)
		}
		if len(before) == maxDues {
			s.Cursor = now
			break
		}
	}
	fires, receipts = t.catchUpOn(s, before)
	for _, at := range prompt {
		what, why := t.decideBehind(s, fires)
		if what == "" {
			fires = append(fires, due{Due: at})
			continue
		}
		receipts = append(receipts, passed{What: what, Why: why, Count: 1, First: at, Last: at})
	}
	for i := range fires {
		s.Fires++
		fires[i].Pod, fires[i].ID, fires[i].N = t.Pod, t.ID, s.Fires
	}
	return s, fires, receipts
}

// catchUpOn says what becomes of due times that were missed.
func (t *trigger) catchUpOn(s state, times []time.Time) (fires []due, receipts []passed) {
	n, _ := t.catchUp() // It was checked.
	n = min(n, len(times))
	what, why := t.decide(s)
	if what != "" {
		n = 0
	} else {
		what = missed
	}
	rest := times[:len(times)-n]
	if len(rest) > 0 {
		receipts = append(receipts, passed{What: what, Why: why, Count: len(rest), First: rest[0], Last: rest[len(rest)-1]})
	}
	for _, at := range times[len(rest):] {
		fires = append(fires, due{Due: at})
	}
	if n > 0 {
		fires[0].Missed = len(rest)
	}
	return fires, receipts
}

// ready says whether the next open fire can be submitted at a time. If not, wait is when to look again; zero is at a change.
func (t *trigger) ready(now time.Time) (ok bool, wait time.Time) {
	s := t.on(now)
	switch {
	case len(t.open) == 0, s.Paused != "":
		return false, time.Time{}
	case s.Today >= perDay, t.spent(s):
		y, m, d := now.In(t.zone).Date()
		return false, time.Date(y, m, d+1, 0, 0, 0, 0, t.zone)
	case len(s.Recent) >= perMinute:
		return false, s.Recent[0].Add(time.Minute)
	case t.New == "" && slices.ContainsFunc(s.Under, func(u under) bool { return !u.began }), t.New != "" && len(s.Under) >= maxNew:
		return false, time.Time{}
	}
	return true, time.Time{}
}

// wake is when a trigger has to be looked at; zero if only at a change.
func (t *trigger) wake(now time.Time) time.Time {
	if t.Paused != "" {
		return time.Time{}
	}
	_, at := t.ready(now)
	if t.next != nil {
		at = sooner(at, t.next(t.Cursor))
	}
	if t.far {
		at = sooner(at, now.Add(time.Minute)) // Nobody tells of the pods of other nodes.
	}
	if t.view.blind {
		at = sooner(at, now.Add(lookAgain))
	}
	if t.File != "" && t.spent(t.on(now)) {
		y, m, d := now.In(t.zone).Date()
		at = sooner(at, time.Date(y, m, d+1, 0, 0, 0, 0, t.zone))
	}
	return at
}

// sooner is the earlier of two times, of which a zero one does not count.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
