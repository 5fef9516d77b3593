package pod_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// written are the kinds of a batch's entries.
func written(b store.Batch) string {
	var out []string
	for _, e := range b.Entries {
		out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", e.Kind), "item."))
	}
	return strings.Join(out, " ")
}

// A warm turn without a call has three commits: the submit, the claim, and the answer
// together with the end. An interceptor decides on the end after the answer is stored.
func TestCommitsOfATurn(t *testing.T) {
	alone := []string{"Submitted", "TurnStarted ItemAdded", "ItemAdded RequestUsage TurnEnded"}
	asked := []string{"Submitted", "TurnStarted ItemAdded", "ItemAdded RequestUsage", "TurnEnded"}
	for name, tt := range map[string]struct {
		chain func(*options)
		want  []string
	}{"no interceptor": {func(*options) {}, alone}, "an interceptor": {with(&edges{}), asked}} {
		t.Run(name, func(t *testing.T) {
			h, f := newFaultyHouse(t, steps(), tt.chain)
			h.run("warm up")
			var got []string
			f.set(func(b store.Batch) error { got = append(got, written(b)); return nil })
			end := h.run("go")
			f.set(nil)
			if !slices.Equal(got, tt.want) {
				t.Errorf("commits %q, want %q", got, tt.want)
			}
			bills := kinds[item.RequestUsage](h.log())
			if want := bills[len(bills)-1].Usage; len(bills) != 2 || end.Usage != want || want.Input == 0 || end.Steps != 1 {
				t.Errorf("end %+v, billed %+v", end, bills)
			}
		})
	}
}

// What is acknowledged while the last answer arrives joins the turn; queued submits and
// pauses find the turn ended.
func TestAcknowledgedBeforeTheEnding(t *testing.T) {
	for name, tt := range map[string]struct {
		give  func(h *house)
		steps int
	}{
		"a submit that steers": {func(h *house) { h.steer("one more") }, 2},
		"a note":               {func(h *house) { h.notify("look out", false) }, 2},
		"a pause":              {func(h *house) { h.pause() }, 1},
		"a submit that waits":  {func(h *house) { h.submit("later") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			h := newHouse(t, g.answer)
			s := h.submit("go")
			<-g.waiting
			tt.give(h)
			close(g.open)
			if end := h.ended(s); end.Outcome != item.OutcomeFinished || end.Steps != tt.steps {
				t.Errorf("end %+v, want %d steps", end, tt.steps)
			}
			h.resume()
			h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle && p.Queued == 0 })
		})
	}
}

// stall blocks the first matching batch of a pod; reached is closed when it arrives.
func (f *faulty) stall(p item.Pod, match func(store.Batch) bool) (reached, release chan struct{}) {
	reached, release = make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.set(func(b store.Batch) error {
		if b.Pod == p.ID && match(b) {
			once.Do(func() {
				close(reached)
				<-release
			})
		}
		return nil
	})
	return reached, release
}

// cancel cancels the pod's turn from another goroutine. It sends the number of the turn, or 0 if none ran.
func (h *house) cancel() (cancelled chan int64) {
	cancelled = make(chan int64, 1)
	go func() {
		turn, ok, err := h.host.Cancel(h.t.Context(), "p", "enough")
		if err != nil {
			h.t.Error(err)
		}
		if !ok {
			turn = 0
		}
		cancelled <- turn
	}()
	return cancelled
}

// A cancel that could not be stored is not acknowledged, and the next podd can cancel the
// turn.
func TestCancelThatIsNotStored(t *testing.T) {
	g := newGate()
	h, f := newFaultyHouse(t, g.answer)
	s := h.submit("go")
	h.inFlight()
	f.set(func(store.Batch) error {
		return item.Errorf(item.KindUnavailable, "STORE_FAILED", "the outcome of a commit is unknown")
	})
	_, cancelled, err := h.host.Cancel(t.Context(), "p", "")
	wantError(t, err, item.KindUnavailable, "NOT_CANCELLED")
	if cancelled {
		t.Error("it is reported as cancelled")
	}
	h.close()
	f.set(nil)
	h.open()
	h.inFlight()
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", ""); err != nil || !cancelled {
		t.Errorf("%v, %v", cancelled, err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled {
		t.Errorf("end %+v", end)
	}
}

// A turn that could not begin cannot be cancelled: its submit waits, and runs.
func TestCancelOfWhatCannotBegin(t *testing.T) {
	h, f := newFaultyHouse(t, steps())
	for range 10 {
		storing, release := make(chan struct{}), make(chan struct{})
		stall := sync.OnceFunc(func() {
			close(storing)
			<-release
		})
		f.set(func(b store.Batch) error {
			if !holds[item.TurnStarted](b) || holds[item.TurnEnded](b) {
				return nil
			}
			stall()
			return errFull
		})
		s := h.submit("go")
		<-storing
		cancelled := h.cancel()
		f.set(nil)
		close(release)
		// A cancel that arrived during the retry ended it.
		if end := h.ended(s); (<-cancelled != 0) != (end.Outcome == item.OutcomeCancelled) {
			t.Errorf("end %+v", end)
		}
	}
}

// A cancel answered with the turn's number ended it as cancelled, even if the whole
// answer waited to be stored. One that comes while the end is stored finds no turn.
func TestCancelAtTheEnding(t *testing.T) {
	g := newGate()
	h, f := newFaultyHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.LastUser() != "go" {
			return scripted.Say(scripted.Text("elsewhere"))
		}
		return g.answer(ctx, r)
	})
	p, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: t.TempDir()})
	if err == nil {
		p, err = h.host.Get(t.Context(), "p")
	}
	if err != nil {
		t.Fatal(err)
	}
	s := h.submit("go")
	<-g.waiting
	busy, release := f.stall(p, holds[item.Submitted])
	waits := make(chan pod.Submitted, 1)
	go func() { waits <- h.submit("later") }()
	<-busy
	cancelled := h.cancel()
	close(g.open)
	for range 3 {
		h.runOther() // Meanwhile the answer has time to arrive.
	}
	close(release)
	// A cancel that comes late is for the turn after it.
	if end, turn := h.ended(s), <-cancelled; turn == 1 != (end.Outcome == item.OutcomeCancelled) {
		t.Errorf("turn %d was cancelled, and the first one ended with %+v", turn, end)
	}
	h.ended(<-waits)

	storing, release := f.stall(p, holds[item.TurnEnded])
	s = h.submit("again")
	<-storing
	cancelled = h.cancel()
	close(release)
	if end := h.ended(s); <-cancelled != 0 || end.Outcome != item.OutcomeFinished {
		t.Errorf("a turn that had ended was cancelled: %+v", end)
	}
}

// listener collects a hook's events, a word for each.
type listener struct {
	hook.Base
	told chan string
}

func (*listener) Name() string { return "listener" }

func (w *listener) Entry(_ string, e item.Entry) {
	w.told <- strings.TrimPrefix(fmt.Sprintf("%T", e.Kind), "item.")
}

func (w *listener) Edge(e hook.Edge) { w.told <- string(e.Name) + " " + e.Text }

// Hooks get a turn's end once, after it is stored; a client sees the answer's text live,
// then its entry, then the end.
func TestOrderAtTheEnding(t *testing.T) {
	w := &listener{told: make(chan string, 100)}
	g := newGate()
	h := newHouse(t, g.answer, func(c *options) { c.Hooks = []hook.Hook{w} })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := h.submit("go")
	<-g.waiting
	var seen []string
	for ev, err := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: "p", After: s.Seq, Follow: true, Deltas: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(ev.InFlight)+len(ev.Deltas) > 0 && !slices.Contains(seen, "live") {
			seen = append(seen, "live")
			close(g.open)
		}
		if ev.Record == nil {
			continue
		}
		e := h.decode(*ev.Record)
		if seen = append(seen, written(store.Batch{Entries: []item.Entry{e}})); seen[len(seen)-1] == "TurnEnded" {
			break
		}
	}
	if got, want := strings.Join(seen, ", "), "TurnStarted, ItemAdded, Setup, live, ItemAdded, RequestUsage, TurnEnded"; got != want {
		t.Errorf("a client sees %s, want %s", got, want)
	}
	h.run("more")
	var told []string
	for started := 0; started < 2; {
		told = append(told, <-w.told)
		if told[len(told)-1] == "TurnStarted" {
			started++
		}
	}
	told = slices.DeleteFunc(told, func(what string) bool { return what == "Submitted" })
	end := slices.Index(told, "TurnEnded")
	want := []string{"RequestUsage", "TurnEnded", "turn_end so far and the rest"}
	if got := told[end-1:][:len(want)]; !slices.Equal(got, want) {
		t.Errorf("a hook gets %q, want %q", told, want)
	}
}
