package retention_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"podd/internal/ops/retention"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// podLog writes the log of a pod the way turns do. Each turn takes a day.
type podLog struct {
	t       fataler
	s       store.Store
	pod     string
	epoch   store.Epoch
	state   *fold.Context
	entries []item.Entry
	turn    int64
	day     int
	calls   int
	written int
}

type fataler interface {
	Fatalf(format string, args ...any)
	Context() context.Context
}

func newStore(t *testing.T) store.Store {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(t.TempDir(), "podd.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newLog(t fataler, s store.Store, pod string) *podLog {
	if err := s.CreatePod(t.Context(), item.Pod{ID: pod, Name: pod}); err != nil {
		t.Fatalf("create: %v", err)
	}
	l := &podLog{t: t, s: s, pod: pod, state: newState(t)}
	l.claim()
	return l
}

func (l *podLog) claim() {
	var err error
	if l.epoch, err = l.s.Claim(l.t.Context(), l.pod); err != nil {
		l.t.Fatalf("claim: %v", err)
	}
}

func newState(t fataler) *fold.Context {
	state, err := fold.NewContext(fold.ContextConfig{})
	if err != nil {
		t.Fatalf("state: %v", err)
	}
	return state
}

// add adds entries that flush writes.
func (l *podLog) add(kinds ...item.Kind) {
	for _, k := range kinds {
		e := item.Entry{Seq: item.Seq(len(l.entries) + 1), Time: start.AddDate(0, 0, l.day), Turn: l.turn, Kind: k}
		l.state.Add(e)
		l.entries = append(l.entries, e)
	}
}

// flush writes the added entries.
func (l *podLog) flush() {
	b := store.Batch{Pod: l.pod, Epoch: l.epoch, Entries: slices.Clone(l.entries[l.written:])}
	for i := range b.Entries {
		b.Entries[i].Seq = 0
	}
	l.append(b)
}

func (l *podLog) append(b store.Batch) {
	if _, err := l.s.Append(l.t.Context(), b); err != nil {
		l.t.Fatalf("append: %v", err)
	}
	l.written += len(b.Entries)
}

// begin starts a turn with a prompt.
func (l *podLog) begin() {
	l.turn++
	l.day++
	l.add(item.Submitted{RequestID: fmt.Sprint("r", l.turn), Text: "go on"},
		item.TurnStarted{RequestIDs: []string{fmt.Sprint("r", l.turn)}})
	if l.turn%4 == 1 {
		l.add(item.Setup{Model: fmt.Sprint("m", l.turn), API: "chat", Instructions: "be brief"})
	}
	l.add(item.ItemAdded{Item: item.UserMessage{Text: fmt.Sprint("prompt ", l.turn)}})
}

// step is a request with a call and its result.
func (l *podLog) step(size int) {
	l.calls++
	id := fmt.Sprint("call", l.calls)
	l.add(item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "shell", Arguments: "{}"}},
		item.RequestUsage{Usage: item.Usage{Input: 100, Output: 3, Requests: 1}, Measured: true, Model: "answered", Asked: "asked"},
		item.ToolStarted{CallID: id, Tool: "shell", Arguments: "{}"})
	l.add(item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "shell", Output: item.Output{
		Summary: "ok", Content: strings.Repeat("x", size), IsError: l.calls%3 == 0,
	}}})
}

func (l *podLog) end() {
	l.add(item.ItemAdded{Item: item.AssistantMessage{Text: fmt.Sprint("done ", l.turn)}},
		item.TurnEnded{Outcome: item.OutcomeFinished})
}

// prune makes requests send the last result as its summary.
func (l *podLog) prune() {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if added, ok := l.entries[i].Kind.(item.ItemAdded); ok {
			if _, ok := added.Item.(item.ToolResult); ok {
				l.add(item.Prune{Seqs: []item.Seq{l.entries[i].Seq}, Policy: "turns"})
				return
			}
		}
	}
}

// compact replaces all but some tokens by a summary.
func (l *podLog) compact(keep int) {
	if n, ok := l.state.CompactionPoint(keep); ok {
		l.add(item.Compaction{Summary: item.SystemMessage{Origin: item.OriginCompaction, Text: "so far"}, UpTo: l.state.SeqOf(n)})
	}
}

// waits is a submit that stays in the inbox.
func (l *podLog) waits() {
	l.flush()
	id := fmt.Sprint("waiting", len(l.entries))
	l.add(item.Submitted{RequestID: id})
	e := l.entries[l.written]
	e.Seq = 0
	l.append(store.Batch{
		Pod: l.pod, Epoch: l.epoch, Enqueue: true, Admit: &store.Request{ID: id}, Entries: []item.Entry{e},
	})
}

// stored reads a log from its first entry.
func stored(t fataler, s store.Store, pod string) (entries []item.Entry) {
	p, err := s.Pod(t.Context(), pod)
	if err != nil {
		t.Fatalf("pod: %v", err)
	}
	for after := p.First - 1; after < p.Last; {
		page, err := s.Read(t.Context(), pod, after, 0)
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		for _, r := range page {
			e, err := r.Decode()
			if err != nil {
				t.Fatalf("decode: %v", err)
			}
			entries, after = append(entries, e), r.Seq
		}
	}
	return entries
}

func sweep(t fataler, l *podLog, p retention.Policy, day int) {
	l.flush()
	sweeper := retention.Sweeper{
		Store: l.s, Alerts: l.s, Policy: p, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return start.AddDate(0, 0, day) },
	}
	if err := sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
}

const day = 24 * time.Hour

// For any log and any policy: the rest begins with the mark and is otherwise unchanged.
// The next request and the calls without a result stay the same. The mark's counts and
// the rest add up to the counts before. An open turn and waiting submits are complete.
// The same sweep again removes nothing.
func TestSweepKeepsWhatCounts(t *testing.T) {
	s := newStore(t)
	n, purged := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		l := newLog(t, s, fmt.Sprint("p", n))
		waiting := false
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			l.begin()
			for range rapid.IntRange(0, 3).Draw(t, "steps") {
				l.step(rapid.IntRange(0, 9000).Draw(t, "size"))
			}
			if rapid.IntRange(0, 4).Draw(t, "prune") == 0 {
				l.prune()
			}
			if rapid.IntRange(0, 3).Draw(t, "compact within") == 0 {
				l.compact(rapid.IntRange(0, 4000).Draw(t, "keep"))
			}
			if rapid.IntRange(0, 5).Draw(t, "wait") == 0 {
				l.waits()
				waiting = true
			}
			l.end()
			if rapid.IntRange(0, 3).Draw(t, "rewind") == 0 {
				l.rewind(t)
			}
			if rapid.IntRange(0, 3).Draw(t, "compact") == 0 {
				l.compact(rapid.IntRange(0, 4000).Draw(t, "keep"))
			}
		}
		if rapid.Bool().Draw(t, "open") {
			l.begin()
			l.add(item.ItemAdded{Item: item.ToolCall{CallID: "open", Name: "shell", Arguments: "{}"}})
		}
		policy := retention.Policy{
			Age:   time.Duration(rapid.IntRange(0, 6).Draw(t, "age")) * day,
			Bytes: int64(rapid.IntRange(0, 20_000).Draw(t, "bytes")),
		}
		// Twice, so that marks are purged too.
		for _, later := range []int{l.day / 2, l.day + 1} {
			sweep(t, l, policy, later)
			left := stored(t, s, l.pod)
			check(t, l, left)
			if len(left) < len(l.entries) {
				purged++
			}
			sweep(t, l, policy, later)
			same(t, "a second sweep", stored(t, s, l.pod), left)
		}
		if inbox, err := s.Inbox(t.Context(), l.pod); err != nil || waiting != (len(inbox) > 0) {
			t.Fatalf("inbox is %v, error %v", inbox, err)
		}
	})
	t.Logf("%d of %d sweeps removed something", purged, 2*n)
	if purged == 0 {
		t.Error("no sweep removed anything")
	}
}

// check compares what is left of a log with the whole.
func check(t *rapid.T, l *podLog, left []item.Entry) {
	if len(left) == len(l.entries) {
		same(t, "an untouched log", left, l.entries)
		return
	}
	removed := len(l.entries) - len(left) + 1
	same(t, "what is left", left[1:], l.entries[removed:])
	mark, ok := left[0].Kind.(item.Purged)
	if !ok || left[0].Seq != l.entries[removed-1].Seq || mark.Entries != int64(removed) {
		t.Fatalf("%d entries are removed, and the log begins with %+v", removed, left[0])
	}
	if left[0].Turn > 0 && left[0].Time.After(left[1].Time) || left[0].Time.IsZero() {
		t.Fatalf("the mark has the time %s, the next entry %s", left[0].Time, left[1].Time)
	}
	state := foldOf(t, left)
	same(t, "the next request", state.Request(), l.state.Request())
	same(t, "open calls", append([]item.ToolCall{}, state.OpenCalls()...), append([]item.ToolCall{}, l.state.OpenCalls()...))
	same(t, "whole turns", wholeTurns(left), true)
	for _, c := range mark.Totals.Requests {
		if c.Asked != "asked" || c.Model != "answered" || !c.Measured {
			t.Fatalf("requests are counted as %+v", c)
		}
	}
	same(t, "usage", mark.Totals.Usage().Add(usage(left)), usage(l.entries))
	same(t, "counts", sum(mark.Totals, count(left)), count(l.entries))
	// The log can be forked at the compaction that the mark names, and not before.
	if l.entries[mark.From-1].Seq != mark.From {
		t.Fatalf("the mark names %d", mark.From)
	}
	c, ok := l.entries[mark.From-1].Kind.(item.Compaction)
	if !ok || c.UpTo < left[0].Seq {
		t.Fatalf("the mark names %+v, the log begins at %d", l.entries[mark.From-1], left[0].Seq)
	}
}

// foldOf is the outcome of a log with rewinds.
func foldOf(t fataler, entries []item.Entry) *fold.Context {
	rules, err := fold.NewRules(fold.ContextConfig{})
	if err != nil {
		t.Fatalf("rules: %v", err)
	}
	f, last := rules.New(), entries[len(entries)-1].Seq
	read := func(after item.Seq, _ fold.Selection) iter.Seq2[item.Entry, error] {
		return func(yield func(item.Entry, error) bool) {
			for _, e := range entries {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
	if err := fold.Open(read, 0, last).Replay(f, last, nil); err != nil {
		t.Fatalf("replay: %v", err)
	}
	return f.Context
}

// rewind goes back to the end of an earlier turn that is still in effect.
func (l *podLog) rewind(t *rapid.T) {
	var ends []item.Seq
	for _, e := range l.entries {
		switch k := e.Kind.(type) {
		case item.TurnEnded:
			ends = append(ends, e.Seq)
		case item.Rewind:
			ends = slices.DeleteFunc(ends, func(seq item.Seq) bool { return seq > k.To })
			ends = append(ends, e.Seq)
		}
	}
	l.add(item.Rewind{To: rapid.SampledFrom(ends).Draw(t, "to")})
	l.state = foldOf(t, l.entries)
}

// wholeTurns checks that each turn has its beginning.
func wholeTurns(entries []item.Entry) bool {
	open := false
	for _, e := range entries {
		switch e.Kind.(type) {
		case item.TurnStarted:
			open = true
		case item.ItemAdded, item.ToolStarted, item.RequestUsage:
			if !open {
				return false
			}
		case item.TurnEnded:
			if !open {
				return false
			}
			open = false
		}
	}
	return true
}

func usage(entries []item.Entry) (sum item.Usage) {
	for _, e := range entries {
		if u, ok := e.Kind.(item.RequestUsage); ok {
			sum = sum.Add(u.Usage)
		}
	}
	return sum
}

// count is turns, compactions, prunes, calls and errors.
func count(entries []item.Entry) (n [5]int64) {
	for _, e := range entries {
		switch k := e.Kind.(type) {
		case item.TurnStarted:
			n[0]++
		case item.Compaction:
			n[1]++
		case item.Prune:
			n[2]++
		case item.ItemAdded:
			if r, ok := k.Item.(item.ToolResult); ok {
				n[3]++
				if r.IsError {
					n[4]++
				}
			}
		}
	}
	return n
}

func sum(t item.Totals, n [5]int64) [5]int64 {
	n[0] += t.Turns
	n[1] += t.Compactions
	n[2] += t.Prunes
	for _, u := range t.Tools {
		n[3] += u.Calls
		n[4] += u.Errors
	}
	return n
}

func same(t fataler, what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// A limit of age removes only what is older, a limit of bytes only as much as necessary.
// Without a compaction, or without a policy, nothing is removed.
func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		name    string
		policy  retention.Policy
		compact bool
		// left are the complete turns afterwards.
		left int
	}{
		{"off", retention.Policy{}, true, 10},
		{"not compacted", retention.Policy{Age: day, Bytes: 1}, false, 10},
		{"young", retention.Policy{Age: 30 * day}, true, 10},
		{"older than six days", retention.Policy{Age: 6 * day}, true, 7},
		{"all is old", retention.Policy{Age: time.Hour}, true, 1},
		{"small", retention.Policy{Bytes: 1 << 20}, true, 10},
		{"half of the bytes", retention.Policy{Bytes: 50_000}, true, 4},
		{"no bytes", retention.Policy{Bytes: 1}, true, 1},
		{"both", retention.Policy{Age: 6 * day, Bytes: 50_000}, true, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			l := newLog(t, s, "p")
			for range 10 {
				l.begin()
				l.step(10_000)
				l.end()
			}
			if tt.compact {
				l.compact(1)
			}
			sweep(t, l, tt.policy, l.day)
			if got := count(stored(t, s, "p"))[0]; got != int64(tt.left) {
				t.Errorf("%d turns are left, want %d", got, tt.left)
			}
		})
	}
}

// A rewind undoes the compactions after the entry that it goes to.
func TestRewoundCompactionDoesNotCount(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	for range 3 {
		l.begin()
		l.step(100)
		l.end()
	}
	before := l.entries[len(l.entries)-1].Seq
	l.compact(1)
	l.add(item.Rewind{To: before})
	sweep(t, l, retention.Policy{Bytes: 1}, l.day)
	same(t, "a log without a compaction in force", stored(t, s, "p"), l.entries)
	l.begin()
	l.step(100)
	l.end()
	l.compact(1)
	l.add(item.Rewind{To: l.entries[len(l.entries)-1].Seq})
	sweep(t, l, retention.Policy{Bytes: 1}, l.day)
	if got := count(stored(t, s, "p"))[0]; got != 1 {
		t.Errorf("%d turns are left, want the last", got)
	}
}

// takeNote is a turn that takes a note.
func (l *podLog) takeNote() {
	l.begin()
	l.add(item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNote, Text: "note"}})
	l.end()
}

// turns are some finished turns.
func (l *podLog) turns(n int) {
	for range n {
		l.begin()
		l.step(100)
		l.end()
	}
}

// A rewind stores a note that it passed again. Once a turn has taken the note, it
// prevents no removal.
func TestNoteThatPassedARewindKeepsNothing(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	l.turns(3)
	to := l.entries[len(l.entries)-1].Seq
	l.turns(1)
	l.add(item.Note{Text: "note"}, item.Rewind{To: to}, item.Note{Text: "note"})
	l.state = foldOf(t, l.entries)
	l.takeNote()
	l.turns(20)
	l.compact(1)
	sweep(t, l, retention.Policy{Bytes: 1}, l.day)
	if got := count(stored(t, s, "p"))[0]; got != 1 {
		t.Errorf("%d turns are left, want the last", got)
	}
}

// A note waits again after a rewind undid the turn that took it: it stays.
func TestNoteThatWaitsAgainStays(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	l.turns(3)
	l.add(item.Note{Text: "note"})
	note := l.entries[len(l.entries)-1].Seq
	l.takeNote()
	l.turns(1)
	l.add(item.Rewind{To: note})
	l.state = foldOf(t, l.entries)
	l.turns(20)
	l.compact(1)
	sweep(t, l, retention.Policy{Bytes: 1}, l.day)
	left := stored(t, s, "p")
	if !slices.ContainsFunc(left, func(e item.Entry) bool { return e.Seq == note }) || len(left) == len(l.entries) {
		t.Errorf("the log begins at #%d, the note that waits is #%d", left[0].Seq, note)
	}
}

// An entry of a wing stays while podd has work to do for it.
func TestPendingStays(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	l.turns(3)
	l.add(item.WingEntry{Wing: "letters", Name: "on its way", Pending: true})
	pending := l.entries[len(l.entries)-1].Seq
	l.turns(20)
	l.compact(1)
	first := func() item.Seq {
		sweep(t, l, retention.Policy{Bytes: 1}, l.day)
		return stored(t, s, "p")[0].Seq
	}
	if at := first(); at >= pending {
		t.Errorf("the log begins at #%d, #%d is pending", at, pending)
	}
	l.add(item.WingEntry{Wing: "letters", Name: "ended", Done: pending})
	l.flush()
	if at := first(); at <= pending {
		t.Errorf("the log begins at #%d, #%d is done", at, pending)
	}
}

// A fork is purged separately, and keeps what it needs.
func TestForksArePurgedByThemselves(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	for range 6 {
		l.begin()
		l.step(1000)
		l.end()
	}
	l.flush()
	at := l.entries[len(l.entries)-1].Seq
	if err := s.Fork(t.Context(), "p", at, item.Pod{ID: "q", Name: "q"}); err != nil {
		t.Fatal(err)
	}
	l.compact(1)
	sweep(t, l, retention.Policy{Bytes: 1}, l.day)
	if got := count(stored(t, s, "p"))[0]; got != 1 {
		t.Errorf("%d turns of the parent are left, want the last", got)
	}
	same(t, "the fork, which was not compacted", stored(t, s, "q"), l.entries[:at])
}

// busy is a store whose logs grow while a sweep reads them.
type busy struct {
	store.Store
	grow func()
}

func (b busy) Purge(ctx context.Context, p store.Purge) error {
	b.grow()
	return b.Store.Purge(ctx, p)
}

// A sweep does not touch a log that grew since it was read; the next sweep purges it. It
// does not read an unchanged log again.
func TestBusyLogIsLeftForTheNextTime(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	for range 6 {
		l.begin()
		l.step(1000)
		l.end()
	}
	l.compact(1)
	once := true
	l.flush()
	reads := &counting{Store: busy{s, func() {
		if once {
			once = false
			l.add(item.Note{Text: "meanwhile"})
			l.flush()
		}
	}}}
	sweeper := retention.Sweeper{
		Store: reads, Policy: retention.Policy{Bytes: 1}, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return start },
	}
	for _, want := range []int{6, 1, 1} {
		if err := sweeper.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count(stored(t, s, "p"))[0]; got != int64(want) {
			t.Errorf("%d turns are left, want %d", got, want)
		}
	}
	n := reads.n
	if err := errors.Join(sweeper.Sweep(t.Context()), sweeper.Sweep(t.Context())); err != nil {
		t.Fatal(err)
	}
	if reads.n != n {
		t.Errorf("%d more reads of a log that did not change", reads.n-n)
	}
}

type counting struct {
	retention.Store
	n int
}

func (c *counting) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
	c.n++
	return c.Store.Read(ctx, pod, after, limit)
}

// Acknowledged alerts are removed by age.
func TestOldAlertsGo(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	for i := range 4 {
		if _, err := s.RaiseAlert(t.Context(), item.Alert{Text: fmt.Sprint(i), Time: start.AddDate(0, 0, i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AckAlerts(t.Context(), []item.Seq{1, 2, 4}); err != nil {
		t.Fatal(err)
	}
	sweep(t, l, retention.Policy{Age: 2 * day}, 4)
	alerts, err := s.Alerts(t.Context(), store.AlertQuery{})
	if err != nil || len(alerts) != 2 || alerts[0].Seq != 3 {
		t.Errorf("left are %+v, error %v", alerts, err)
	}
}

// Run ends with its context.
func TestRunEnds(t *testing.T) {
	s := newStore(t)
	l := newLog(t, s, "p")
	for range 3 {
		l.begin()
		l.step(1000)
		l.end()
	}
	l.compact(1)
	l.flush()
	ctx, cancel := context.WithCancel(t.Context())
	reads := busy{s, cancel}
	sweeper := retention.Sweeper{Store: reads, Policy: retention.Policy{Bytes: 1}, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	sweeper.Run(ctx, time.Hour)
	(&retention.Sweeper{}).Run(t.Context(), time.Hour)
}
