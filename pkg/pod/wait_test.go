package pod_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/worker"
)

// sleeper waits as long as a test says.
type sleeper struct {
	asked chan time.Duration
	wake  chan struct{}
}

func newSleeper() *sleeper {
	return &sleeper{asked: make(chan time.Duration, 10), wake: make(chan struct{})}
}

func (s *sleeper) sleep(ctx context.Context, d time.Duration) error {
	s.asked <- d
	select {
	case <-s.wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// slowDown answers the first requests of a conversation with a wait of an hour, the given
// number of times.
func slowDown(times int) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Attempt <= times {
			return scripted.Fail(429, "rate_limit_exceeded", "slow down", time.Hour)
		}
		return scripted.Say(scripted.Text("fine"))
	}
}

func (h *house) waiting() item.Pod {
	h.t.Helper()
	var got item.Pod
	h.await(func(p item.Pod) bool {
		got = p
		return p.Status.State == item.StateWaiting && !p.Status.WaitUntil.IsZero()
	})
	return got
}

// A wait from Retry-After survives restarts and kills: until the same time, visibly, and
// without a request in between. It is not another stop at the same step.
func TestWaitOverRestarts(t *testing.T) {
	z := newSleeper()
	f := new(faulty)
	h := newHouse(t, slowDown(1), func(c *options) { c.Retry.Sleep = z.sleep; f.Store, c.Store = c.Store, f })
	s := h.submit("go")
	<-z.asked
	before := h.waiting()
	if until := time.Until(before.Status.WaitUntil); until < 50*time.Minute || until > time.Hour ||
		!strings.Contains(before.Status.Reason, "waiting until "+before.Status.WaitUntil.UTC().Format(time.DateTime)) || !strings.Contains(before.Status.Reason, "slow down") {
		t.Errorf("pod %+v", before.Status)
	}
	for i := range 5 {
		if i%2 == 0 {
			h.kill(f)
		} else {
			h.restart()
		}
		if d := <-z.asked; d > time.Hour || d < 50*time.Minute {
			t.Errorf("waits %s more", d)
		}
		if p := h.waiting(); !p.Status.WaitUntil.Equal(before.Status.WaitUntil) || !strings.Contains(p.Status.Reason, "waiting until") {
			t.Errorf("after restart %d: %+v", i, p.Status)
		}
	}
	if n := len(h.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if ends := kinds[item.TurnEnded](h.log()); len(ends) != 0 {
		t.Errorf("the turn ended: %+v", ends)
	}
	close(z.wake)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A wait can be cancelled, and its end shows.
func TestWaitCancelled(t *testing.T) {
	z := newSleeper()
	h := newHouse(t, slowDown(1), func(c *options) { c.Retry.Sleep = z.sleep })
	s := h.submit("go")
	h.waiting()
	if _, cancelled, err := h.host.Cancel(t.Context(), "p", "no time"); !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "no time")
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle || !p.Status.WaitUntil.IsZero() {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
}

// After a wait the pod runs again, before the model has answered.
func TestWaitEnds(t *testing.T) {
	z := newSleeper()
	open := make(chan struct{})
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Attempt == 1 {
			return scripted.Fail(429, "rate_limit_exceeded", "slow down", time.Hour)
		}
		return scripted.Say(scripted.Wait(open), scripted.Text("fine"))
	}, func(c *options) { c.Retry.Sleep = z.sleep })
	s := h.submit("go")
	h.waiting()
	close(z.wake)
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateRunning && p.Status.WaitUntil.IsZero() })
	close(open)
	h.ended(s)
	waits := slices.DeleteFunc(h.warned(), func(text string) bool { return !strings.Contains(text, "retrying in 1h") })
	if len(waits) != 1 {
		t.Errorf("alerts %q", h.warned())
	}
}

// onlyModel lets one model answer; the others request a wait of an hour.
func onlyModel(name string, then scripted.Handler) scripted.Handler {
	return func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Model != name {
			return scripted.Fail(429, "rate_limit_exceeded", r.Model+" is busy", time.Hour)
		}
		return then(ctx, r)
	}
}

// The rest of the turn skips a model that is unavailable for long: the setup says so and
// a person is alerted. The next turn begins with the pod's own model again.
func TestFallback(t *testing.T) {
	h := newHouse(t, onlyModel("m3", steps(scripted.Say(shell("true")))), func(c *options) { c.Fallbacks = refs("m2", "m3") })
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || end.Steps != 2 {
		t.Errorf("end %+v", end)
	}
	models := func() (names []string) {
		for _, s := range kinds[item.Setup](h.log()) {
			names = append(names, s.Model)
		}
		return names
	}
	if got := models(); !slices.Equal(got, []string{"m", "m2", "m3"}) {
		t.Errorf("setups %q", got)
	}
	if n := len(h.model.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	w := h.warned()
	if len(w) != 2 || !strings.Contains(w[1], "turn 1 continues with the model m3") || !strings.Contains(w[1], "m2 is busy") {
		t.Errorf("alerts %q", w)
	}
	h.run("again")
	if got := models(); len(got) != 6 || got[3] != "m" || got[5] != "m3" {
		t.Errorf("setups %q", got)
	}
}

// An endpoint that refuses images is not asked again; a fallback that sees images answers.
func TestFallbackSeesImages(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Model == "m" {
			return scripted.Fail(500, "", "image input is not supported by this server", 0)
		}
		return scripted.Say(scripted.Text("red"))
	}, func(c *options) { c.Fallbacks = refs("m2") })
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || len(h.model.Requests()) != 2 {
		t.Errorf("end %+v after %d requests", end, len(h.model.Requests()))
	}
	if w := h.warned(); len(w) != 1 || !strings.Contains(w[0], "(model m, 500) takes no images") {
		t.Errorf("alerts %q", w)
	}
}

// A turn that fell back to another model stays with it over a restart.
func TestFallbackOutlivesPodd(t *testing.T) {
	asked := make(chan struct{})
	var requests atomic.Int32
	h, f := newFaultyHouse(t, onlyModel("m2", func(context.Context, scripted.Request) scripted.Reply {
		switch requests.Add(1) {
		case 1:
			return scripted.Say(scripted.Call{Name: "todo", Arguments: `{"items":[]}`})
		case 2:
			close(asked)
			return scripted.Say(scripted.Wait(make(chan struct{})))
		}
		return scripted.Say(scripted.Text("done"))
	}), func(c *options) { c.Fallbacks = refs("m2", "m3") })
	s := h.submit("go")
	<-asked
	h.kill(f)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	var models []string
	for _, s := range kinds[item.Setup](h.log()) {
		models = append(models, s.Model)
	}
	if !slices.Equal(models, []string{"m", "m2"}) {
		t.Errorf("setups %q", models)
	}
	if n := len(h.model.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}

// A turn whose own model is also one of the fallbacks has not fallen back by using it:
// after a restart it still has all of them, even if its own model is another by then.
func TestOwnModelIsNoFallback(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"default", "", "", []string{"scripted", "m2"}},
		{"changed", "scripted", "n", []string{"scripted", "n", "m2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan struct{})
			var requests atomic.Int32
			model := c.before
			h, f := newFaultyHouse(t, func(context.Context, scripted.Request) scripted.Reply {
				switch requests.Add(1) {
				case 1:
					close(asked)
					return scripted.Say(scripted.Wait(make(chan struct{})))
				case 2:
					return scripted.Fail(429, "rate_limit_exceeded", "busy", time.Hour)
				}
				return scripted.Say(scripted.Text("done"))
			}, func(cfg *options) {
				cfg.Model, cfg.Fallbacks, model = item.ModelRef{Model: model}, refs("m2", "scripted"), c.after
			})
			s := h.submit("go")
			<-asked
			h.kill(f)
			h.ended(s)
			var models []string
			for _, s := range kinds[item.Setup](h.log()) {
				models = append(models, s.Model)
			}
			if !slices.Equal(models, c.want) {
				t.Errorf("setups %q, want %q", models, c.want)
			}
		})
	}
}

// When no model is left, the turn waits as the last one requested.
func TestFallbacksAreUsedUp(t *testing.T) {
	z := newSleeper()
	h := newHouse(t, onlyModel("m9", nil), func(c *options) { c.Fallbacks, c.Retry.Sleep = refs("m2"), z.sleep })
	s := h.submit("go")
	if d := <-z.asked; d != time.Hour {
		t.Errorf("waits %s", d)
	}
	if p := h.waiting(); !strings.Contains(p.Status.Reason, "m2 is busy") {
		t.Errorf("pod %+v", p.Status)
	}
	if _, _, err := h.host.Cancel(t.Context(), "p", ""); err != nil {
		t.Error(err)
	}
	h.ended(s)
}

// If the pod's model can't write a summary now, the next model does, as for its other
// requests.
func TestFallbackWhileCompacting(t *testing.T) {
	var mu sync.Mutex
	full := false
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		switch summary := strings.Contains(r.LastUser(), "summary that replaces the conversation"); {
		case r.Model == "m2" && summary:
			full = false
			return scripted.Say(scripted.Text("short"))
		case full && summary:
			return scripted.Fail(429, "rate_limit_exceeded", "busy", time.Hour)
		case full:
			return scripted.Fail(400, "context_length_exceeded", "too long", 0)
		}
		return scripted.Say(scripted.Text(strings.Repeat("a long answer ", 1000)))
	}, func(c *options) { c.Fallbacks, c.Compaction = refs("m2"), worker.Compaction{KeepTokens: 1} })
	h.run("one")
	h.run("two")
	mu.Lock()
	full = true
	mu.Unlock()
	if end := h.run("three"); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if n := len(kinds[item.Compaction](h.log())); n != 1 {
		t.Errorf("%d compactions", n)
	}
}

// A failed listing of models before the first request of a pod is logged with the step
// that it is for.
func TestFailedListingIsLoggedWithItsStep(t *testing.T) {
	var asked atomic.Int32
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(endpoint.Close)
	client, err := openai.New(openai.Config{BaseURL: endpoint.URL + "/v1", API: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var log bytes.Buffer // Only the turn writes it; the test reads it afterwards.
	h := newHouse(t, steps(), func(c *options) {
		c.Router, c.Model = llm.One(client), item.ModelRef{}
		c.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	})
	h.run("go")
	h.close()
	defer h.open()
	if _, line, ok := strings.Cut(log.String(), `"model request failed; retrying"`); !ok || !strings.Contains(line, `"step":1,"attempt":1,`) {
		t.Errorf("the log: %s", log.String())
	}
}
