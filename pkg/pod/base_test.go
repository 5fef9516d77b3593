package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// lowest is the real store, and remembers the lowest entry that was read.
type lowest struct {
	store.Store
	seq atomic.Int64
}

// Read records where it begins.
func (l *lowest) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
	l.seq.Store(min(l.seq.Load(), int64(after)+1))
	return l.Store.Read(ctx, pod, after, limit)
}

// tight compacts as much as possible.
func tight(c *options) { c.Compaction.KeepTokens = 1 }

// compact compacts the pod, if it has something to compact.
func (h *house) compact() {
	h.t.Helper()
	_, err := h.host.Compact(h.t.Context(), "p")
	// Even a summary longer than what it replaces is stored.
	if err != nil && !slices.Contains([]string{"NOTHING_TO_COMPACT", "COMPACTION_FAILED"}, item.ReasonOf(err)) {
		h.t.Fatal(err)
	}
}

// loaded loads the pod and returns the last entry of its base.
func (h *house) loaded() item.Seq {
	h.t.Helper()
	h.context()
	return h.folds("p")
}

// context is the pod's next request.
func (h *house) context() string {
	h.t.Helper()
	c, err := h.host.Context(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	return string(c.Body)
}

// offline changes the store while no podd has it open, as the pod's owner.
func (h *house) offline(f func(s store.Store, id string, epoch store.Epoch)) {
	h.t.Helper()
	h.close()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(h.state, "podd.db")})
	if err != nil {
		h.t.Fatal(err)
	}
	p, err := s.Pod(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	epoch, err := s.Claim(h.t.Context(), p.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	f(s, p.ID, epoch)
	if err := s.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.open()
}

// Loading a compacted pod reads nothing before the summary, also after further turns, and
// in a fork. After a rewind to before the compaction it does.
func TestCompactedPastIsNotRead(t *testing.T) {
	var l *lowest
	h := newHouse(t, summarizer(1<<30, edits), tight, func(c *options) {
		l = &lowest{Store: c.Store}
		c.Store = l
	})
	h.run("edit one")
	before := h.seqOf(ended)
	h.run("edit two")
	h.compact()
	compacted := h.seqOf(func(e item.Entry) bool { _, ok := e.Kind.(item.Compaction); return ok })
	h.restart()
	if based := h.loaded(); based == 0 {
		t.Error("there is no base")
	} else if _, err := h.host.Fork(t.Context(), "p", "early", based); err != nil {
		t.Errorf("a fork where the base ends: %v", err)
	}
	h.run("three")
	loaded := func(name string, want bool) {
		t.Helper()
		h.restart()
		l.seq.Store(math.MaxInt64)
		if _, err := h.host.Context(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if read := item.Seq(l.seq.Load()); (read < before) != want {
			t.Errorf("pod %s was read from #%d on, its compaction is #%d", name, read, compacted)
		}
		h.folds(name)
	}
	loaded("p", false)
	if _, err := h.host.Fork(t.Context(), "p", "q", 0); err != nil {
		t.Fatal(err)
	}
	loaded("q", false)
	if _, err := h.host.Rewind(t.Context(), "p", before); err != nil {
		t.Fatal(err)
	}
	loaded("p", true)
	h.lastRequest("four", []string{"four"}, []string{"two", "three"})
}

// intruder is the real store, and acts once after a base was read.
type intruder struct {
	store.Store
	after atomic.Pointer[func()]
}

// Base returns the base from before the act.
func (m *intruder) Base(ctx context.Context, pod string) (store.Base, bool, error) {
	b, ok, err := m.Store.Base(ctx, pod)
	if f := m.after.Load(); f != nil {
		(*f)()
	}
	return b, ok, err
}

// A rewind that removes the base after it was read leaves no undone entry in the result
// of that read, and none that an earlier rewind undid.
func TestRewindWhileTheLogIsRead(t *testing.T) {
	var m *intruder
	h := newHouse(t, summarizer(1<<30, edits), tight, func(c *options) {
		m = &intruder{Store: c.Store}
		c.Store = m
	})
	back := func(to item.Seq) {
		t.Helper()
		if _, err := h.host.Rewind(t.Context(), "p", to); err != nil {
			t.Fatal(err)
		}
	}
	h.run("edit one")
	kept := h.seqOf(ended)
	h.run("wrong turn")
	back(kept)
	h.run("edit two")
	before := h.seqOf(ended)
	h.run("edit three")
	h.compact()
	h.restart()
	if h.loaded() == 0 {
		t.Fatal("there is no base")
	}
	h.run("four")
	after := h.seqOf(ended)
	h.run("five")
	back(after)
	starts := 0
	meddle := func() {
		starts++
		m.after.Store(nil)
		back(before)
	}
	m.after.Store(&meddle)
	got := h.context()
	if starts != 1 {
		t.Fatalf("the log was begun %d times", starts)
	}
	if want := h.context(); got != want {
		t.Errorf("the next request is\n%s\nwant\n%s", got, want)
	}
}

// After a restart the pod still knows who answered a question of the last turn, and the
// waiting notes, even from the base.
func TestBaseKnowsMore(t *testing.T) {
	h := newHouse(t, summarizer(1<<30, edits), tight, with(asks("true")))
	var q pod.Approval
	for range 2 {
		s := h.submit("edit")
		q = h.asked(1)[0]
		h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, By: "ann"})
		h.ended(s)
	}
	h.notify("by the way", false)
	h.compact()
	h.restart()
	if h.loaded() == 0 {
		t.Fatal("there is no base")
	}
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: q.CallSeq})
	wantError(t, err, item.KindPrecondition, "APPROVAL_RESOLVED")
}

// A base that can't be stored or read, belongs to another log, or was made under other
// settings costs only the time for reading the log, and the next one replaces it.
func TestBaseOfNoUse(t *testing.T) {
	var limit float64
	h, f := newFaultyHouse(t, summarizer(1<<30, edits), func(c *options) { priced(map[string]float64{"m": 1 + limit})(c) })
	h.run("edit one")
	h.run("edit two")
	f.set(func(b store.Batch) error {
		if b.Base != nil {
			return errKilled
		}
		return nil
	})
	h.compact()
	h.close()
	f.set(nil)
	h.open()
	if based := h.folds("p"); based != 0 {
		t.Fatalf("a base at #%d was stored", based)
	}
	made := h.loaded()
	if made == 0 {
		t.Fatal("no base was made when the pod was loaded")
	}
	body := h.context()
	for what, spoil := range map[string]func(b *store.Base){
		"no base":        func(b *store.Base) { b.Fold = nil },
		"a longer base":  func(b *store.Base) { b.Fold = append(b.Fold, b.Fold...)[:len(b.Fold)/2] },
		"another log's":  func(b *store.Base) { b.Fold = otherBase(t) },
		"other settings": func(*store.Base) { limit++ },
	} {
		h.offline(func(s store.Store, id string, epoch store.Epoch) {
			b, ok, err := s.Base(t.Context(), id)
			if err != nil || !ok {
				t.Fatalf("%s: base %v, %v", what, ok, err)
			}
			spoil(&b)
			if _, err := s.Append(t.Context(), store.Batch{Pod: id, Epoch: epoch, Base: &b}); err != nil {
				t.Fatal(err)
			}
		})
		if based := h.folds("p"); based != 0 {
			t.Errorf("%s: it counts", what)
		}
		if got := h.context(); got != body {
			t.Errorf("%s: the next request is\n%s\nwant\n%s", what, got, body)
		}
		if based := h.folds("p"); based != made {
			t.Errorf("%s: the next base is at #%d, want #%d", what, based, made)
		}
	}
}

// damage garbles the pod's entries with a certain text, which must not occur elsewhere,
// while no podd has the file open.
func (h *house) damage(text string) {
	h.t.Helper()
	h.close()
	path := filepath.Join(h.state, "podd.db")
	b, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(text)) {
		h.t.Fatalf("nothing has %q", text)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(text), bytes.ToUpper([]byte(text))), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.open()
}

// replaced is a pod "p" whose log is whole.
func (h *house) replaced() {
	h.t.Helper()
	if err := h.host.Delete(h.t.Context(), "p"); err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.host.Create(h.t.Context(), "p", item.PodSpec{Dir: h.dir}); err != nil {
		h.t.Fatal(err)
	}
}

// prices reloads with a price that no base knows.
func (h *house) prices(usd float64) {
	h.t.Helper()
	h.reload(func(s *options) {
		var c options
		priced(map[string]float64{"m": usd})(&c)
		s.Models = c.Models
	})
}

// A pod whose base hides damage keeps working when prices change, and reports the damage
// once for each change.
func TestDamageBehindTheBase(t *testing.T) {
	h := newHouse(t, summarizer(1<<30, edits), tight)
	h.run("edit whatever")
	h.run("edit two")
	h.compact()
	h.damage("whatever")
	told := func() (n int64) {
		t.Helper()
		alerts, err := h.store.Alerts(t.Context(), store.AlertQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range alerts {
			if strings.Contains(a.Text, "is damaged; earlier") {
				n += a.Count
			}
		}
		return n
	}
	h.run("three")
	if n := told(); n != 0 {
		t.Errorf("%d alerts before the change", n)
	}
	for usd := range int64(2) {
		h.prices(float64(5 + usd))
		for range 2 {
			if end := h.run("edit more"); end.Outcome != item.OutcomeFinished {
				t.Errorf("end %+v", end)
			}
		}
		if n := told(); n != usd+1 {
			t.Errorf("%d alerts after %d changes", n, usd+1)
		}
	}
	h.replaced()
}

// A pod that can't trust its state in memory, and can't fold its log any more, is
// quarantined instead of retrying for ever.
func TestDamageWithoutAFold(t *testing.T) {
	h, f := newFaultyHouse(t, summarizer(1<<30, edits), tight)
	h.run("edit whatever")
	h.run("edit two")
	h.compact()
	h.damage("whatever")
	h.context()
	f.set(func(b store.Batch) error {
		if holds[item.TurnEnded](b) {
			h.prices(5)
			return errKilled
		}
		return nil
	})
	h.submit("three")
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateQuarantined })
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "go"}}})
	wantError(t, err, item.KindDataLoss, "DAMAGED")
	f.set(nil)
	h.replaced()
}

// otherBase is the base of a pod in another house, whose items are at other entries.
func otherBase(t *testing.T) (fold []byte) {
	h := newHouse(t, summarizer(1<<30, edits), priced(map[string]float64{"m": 1}))
	for range 3 {
		h.run("edit")
	}
	h.compact()
	h.run("more")
	h.compact()
	h.offline(func(s store.Store, id string, _ store.Epoch) {
		b, _, err := s.Base(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		fold = b.Fold
	})
	return fold
}

// Whatever happens to a pod, folding its log from its base gives the same as folding all
// of it, and so for its forks.
func TestBaseStandsForTheLog(t *testing.T) {
	rounds, based, most := 0, 0, 100
	if testing.Short() {
		most = 5
	}
	rapid.Check(t, func(rt *rapid.T) {
		if rounds++; rounds > most && based > 0 && !rt.Failed() {
			return
		}
		actions := rapid.SliceOfN(rapid.SampledFrom([]string{
			"run", "run", "edit", "edit", "edit", "note", "compact", "compact", "rewind", "rewind", "fork", "restart", "price", "purge",
		}), 6, 18).Draw(rt, "actions")
		places := rapid.SliceOfN(rapid.IntRange(0, 1000), len(actions), len(actions)).Draw(rt, "places")
		ok := t.Run(fmt.Sprint(rounds), func(t *testing.T) {
			var price float64
			purged := false
			h := newHouse(t, summarizer(1<<30, edits), func(c *options) { priced(map[string]float64{"m": 1 + price})(c) })
			for i, action := range actions {
				switch action {
				case "run", "edit":
					h.run(fmt.Sprint(action, " ", i))
				case "note":
					h.notify(fmt.Sprint("note ", i), false)
				case "compact":
					h.compact()
				case "rewind", "fork":
					h.cut(action, i, places[i])
				case "purge":
					purged = true
					h.sweep()
				case "price":
					price++
					h.restart()
				default:
					h.restart()
				}
				if h.folds("p") > 0 {
					based++
				}
			}
			if purged {
				h.replaced() // The final check needs a whole log.
			}
		})
		if !ok {
			rt.Fatalf("after %q", actions)
		}
	})
	if based == 0 {
		t.Error("no pod had a base")
	}
}

// left is the part of the log that a purge leaves.
func (h *house) left() (entries []item.Entry) {
	h.t.Helper()
	p, err := h.host.Get(h.t.Context(), "p")
	if err != nil {
		h.t.Fatal(err)
	}
	for ev, err := range h.host.Logs.Stream(h.t.Context(), pod.StreamQuery{Pod: "p", After: max(p.First, 1) - 1}) {
		if err != nil {
			h.t.Fatal(err)
		}
		if ev.Record != nil {
			entries = append(entries, h.decode(*ev.Record))
		}
	}
	return entries
}

// cut rewinds the pod to an entry, or forks it there.
func (h *house) cut(action string, i, place int) {
	h.t.Helper()
	var places []item.Seq
	for _, e := range h.left() {
		if _, rewound := e.Kind.(item.Rewind); rewound || ended(e) {
			places = append(places, e.Seq)
		}
	}
	if len(places) == 0 {
		return
	}
	at := places[place%len(places)]
	var err error
	if action == "rewind" {
		_, err = h.host.Rewind(h.t.Context(), "p", at)
	} else {
		fork := fmt.Sprint("fork-", i)
		if _, err = h.host.Fork(h.t.Context(), "p", fork, at); err == nil {
			h.folds(fork)
		}
	}
	if err != nil && !slices.Contains([]string{"TAKEN_BACK", "OPEN_CALL", store.ReasonPurged}, item.ReasonOf(err)) {
		h.t.Fatal(err)
	}
}
