package pod_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// faulty is the real store behind a layer where a test can inject errors or panics.
type faulty struct {
	store.Store
	mu sync.Mutex
	// onAppend gets each batch before it is written; an error refuses it.
	onAppend func(store.Batch) error
	// onAppended gets each batch once it is stored, before the pod knows.
	onAppended func(store.Batch)
	// onRead is called before each read; an error fails it.
	onRead func() error
	// onClaim is called before a pod's log is claimed; an error refuses it.
	onClaim func(pod string) error
	// onDelete is called before a pod is deleted; an error refuses it.
	onDelete func() error
}

// Claim calls onClaim first.
func (f *faulty) Claim(ctx context.Context, pod string) (store.Epoch, error) {
	f.mu.Lock()
	check := f.onClaim
	f.mu.Unlock()
	if check != nil {
		if err := check(pod); err != nil {
			return 0, err
		}
	}
	return f.Store.Claim(ctx, pod)
}

// DeletePod calls onDelete first.
func (f *faulty) DeletePod(ctx context.Context, pod string) error {
	f.mu.Lock()
	check := f.onDelete
	f.mu.Unlock()
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}
	return f.Store.DeletePod(ctx, pod)
}

// Append calls onAppend first.
func (f *faulty) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	f.mu.Lock()
	check := f.onAppend
	f.mu.Unlock()
	if check != nil {
		if err := check(b); err != nil {
			return store.Appended{}, err
		}
	}
	appended, err := f.Store.Append(ctx, b)
	f.mu.Lock()
	after := f.onAppended
	f.mu.Unlock()
	if after != nil {
		after(b)
	}
	return appended, err
}

// Read calls onRead first.
func (f *faulty) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
	f.mu.Lock()
	check := f.onRead
	f.mu.Unlock()
	if check != nil {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return f.Store.Read(ctx, pod, after, limit)
}

func (f *faulty) set(onAppend func(store.Batch) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onAppend = onAppend
}

// newFaultyHouse is a house whose store a test can make fail.
func newFaultyHouse(t *testing.T, handler scripted.Handler, config ...func(*options)) (*house, *faulty) {
	t.Helper()
	f := new(faulty)
	h := newHouse(t, handler, append(config, func(c *options) {
		if c.Store != nil { // A reload has none.
			f.Store, c.Store = c.Store, f
		}
	})...)
	return h, f
}

// holds says whether a batch has an entry of a kind.
func holds[K item.Kind](b store.Batch) bool {
	return slices.ContainsFunc(b.Entries, func(e item.Entry) bool { _, ok := e.Kind.(K); return ok })
}

// nothingInFlight fails if a stream that attaches now shows text of a turn that will not
// finish. The pod must be idle. A stream reads what is in flight before it checks its
// context, so the context's end ends the check.
func (h *house) nothingInFlight() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	for ev := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: "p", Follow: true, Deltas: true}) {
		if ev.CaughtUp != nil {
			cancel()
		}
		if len(ev.InFlight) > 0 {
			h.t.Errorf("in flight: %+v", ev.InFlight)
		}
	}
}

// panicking is the real model, except that it panics at the request for a summary.
type panicking struct{ llm.Model }

// Body panics at the request for a summary.
func (p panicking) Body(r llm.Request) ([]byte, error) {
	if m, ok := r.Items[len(r.Items)-1].(item.UserMessage); ok && strings.Contains(m.Text, "summary that replaces the conversation") {
		panic("boom")
	}
	return p.Model.Body(r)
}

// A compaction that panics is answered, and the pod keeps working.
func TestPanicWhileCompacting(t *testing.T) {
	h := newHouse(t, readLoop(2), func(c *options) {
		c.Router = llm.One(panicking{c.Router.Endpoints["default"].Model})
		c.Compaction.KeepTokens = 1
	})
	h.run("go")
	_, err := h.host.Compact(t.Context(), "p")
	wantError(t, err, item.KindInternal, "INTERNAL")
	if end := h.run("more"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// await polls a pod's record until the condition is true.
func (h *house) await(want func(item.Pod) bool) {
	h.t.Helper()
	for {
		p, err := h.host.Get(h.t.Context(), "p")
		if err != nil {
			h.t.Fatal(err)
		}
		if want(p) {
			return
		}
	}
}

// A panic while a submit is stored is not an acknowledgement, and the pod works again at
// once: it is reloaded.
func TestPanicWhileASubmitIsStored(t *testing.T) {
	h, f := newFaultyHouse(t, steps())
	f.set(func(store.Batch) error { panic("boom") })
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "go"}}})
	wantError(t, err, item.KindUnavailable, "POD_FAILED")
	f.set(nil)
	for {
		s, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "go"}}})
		if item.ReasonOf(err) == "POD_FAILED" {
			continue // The old pod is still ending.
		}
		if err != nil {
			t.Fatal(err)
		}
		if end := h.ended(s); end.Outcome != item.OutcomeFinished || s.Seq != 1 {
			t.Errorf("seq %d, end %+v", s.Seq, end)
		}
		return
	}
}

// A panic while the start of a call is stored keeps the call from running.
func TestPanicWhileACallIsStored(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("printf x >> ran"))))
	f.set(func(b store.Batch) error {
		if holds[item.ToolStarted](b) {
			panic("boom")
		}
		return nil
	})
	s := h.submit("go")
	for h.host.Counts().Loaded > 0 {
		if t.Context().Err() != nil {
			t.Fatal("the pod stays in memory")
		}
	}
	if h.exists("ran") {
		t.Error("the command ran without an entry that says so")
	}
	f.set(nil)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if got := h.read("ran"); got != "x" {
		t.Errorf("the command ran %d times", len(got))
	}
}

// A panic while a pod is loaded fails this call, and does not stop the daemon.
func TestPanicWhileLoading(t *testing.T) {
	h, f := newFaultyHouse(t, steps())
	f.mu.Lock()
	f.onRead = func() error { panic("boom") }
	f.mu.Unlock()
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "go"}}})
	wantError(t, err, item.KindUnavailable, "POD_FAILED")
	f.mu.Lock()
	f.onRead = nil
	f.mu.Unlock()
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// meddler modifies what it gets.
type meddler struct{ hook.Base }

func (meddler) Name() string { return "meddler" }

func (meddler) Entry(_ string, e item.Entry) {
	if s, ok := e.Kind.(item.Setup); ok {
		s.Tools[0].Description = "meddled"
	}
}

// A hook gets copies: its modifications affect only itself.
func TestHooksCannotMeddle(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("true")), scripted.Say(shell("true"))), func(c *options) {
		c.Hooks = []hook.Hook{meddler{}, meddler{}}
	})
	h.run("go")
	for _, r := range h.model.Requests() {
		if strings.Contains(string(r), "meddled") {
			t.Fatal("the model was sent what a hook wrote")
		}
	}
}

func (f *faulty) claim(onClaim func(pod string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onClaim = onClaim
}
