package pod_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/scripted"
)

// told gives every pod podd's own instructions, at a time that the test sets.
type told struct {
	*house
	seconds atomic.Int64
}

// newTold is a house whose pods use the given API, with the requests of the inner house.
func newTold(t *testing.T, api string, handler scripted.Handler, config ...func(*options)) *told {
	t.Helper()
	server, err := scripted.Serve(scripted.Config{Handler: handler})
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, api, server.URL(), nil)
	h := new(told)
	h.at(23)
	t.Cleanup(func() {
		client.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	h.house = newHouse(t, handler, append(config, func(c *options) {
		c.Router, c.BaseInstructions = llm.One(client), "builtin"
		c.workspaceConfig.Now = func() time.Time { return time.Unix(h.seconds.Load(), 0).UTC() }
	})...)
	own := h.model
	h.model = server
	t.Cleanup(func() { h.model = own })
	return h
}

// at sets the clock to shortly before midnight of a day of November 2026.
func (h *told) at(day int) {
	h.seconds.Store(time.Date(2026, 11, day, 23, 59, 0, 0, time.UTC).Unix())
}

// states are the texts about the day and the like.
func states(entries []item.Entry) (out []string) {
	for _, text := range texts(entries) {
		if state, ok := strings.CutPrefix(text, "state: "); ok {
			out = append(out, state)
		}
	}
	return out
}

// plantCommit makes HEAD a branch at a commit whose digits are equal.
func (h *told) plantCommit(digit string) {
	h.t.Helper()
	refs := filepath.Join(h.dir, ".git", "refs", "heads")
	if err := os.MkdirAll(refs, 0o700); err != nil {
		h.t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(h.dir, ".git", "HEAD"): "ref: refs/heads/main\n", filepath.Join(refs, "main"): strings.Repeat(digit, 40) + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

// podd's text stays at the start of each request, and what changes comes after the user's
// message, once: each request extends the previous one, across midnight, a restart and
// commits.
func TestRequestsExtendEachOtherAcrossDays(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			h := newTold(t, api, func(_ context.Context, r scripted.Request) scripted.Reply {
				if r.Steps()%2 == 1 {
					return scripted.Say(scripted.Text("done"))
				}
				return scripted.Say(shell("echo one"))
			})
			h.plantCommit("a")
			h.run("first")
			h.run("same day")
			h.at(24)
			h.run("next day")
			h.restart()
			h.run("same day, another podd")
			h.plantCommit("b")
			h.run("another commit")
			requests := h.model.Requests()
			if len(requests) != 10 {
				t.Fatalf("%d requests", len(requests))
			}
			for i := 1; i < len(requests); i++ {
				if !extends(requests[i], requests[i-1]) {
					t.Errorf("request %d does not extend the one before:\n%s\n%s", i+1, requests[i-1], requests[i])
				}
			}
			want := []string{
				"Today is Monday, 23 November 2026, time zone UTC (UTC+00:00).\ngit: branch main, commit aaaaaaaaaaaa.\nMode: act.\n",
				"Today is Tuesday, 24 November 2026, time zone UTC (UTC+00:00).\ngit: branch main, commit aaaaaaaaaaaa.\nMode: act.\n",
				"Today is Tuesday, 24 November 2026, time zone UTC (UTC+00:00).\ngit: branch main, commit bbbbbbbbbbbb.\nMode: act.\n",
			}
			if got := states(h.log()); strings.Join(got, "") != strings.Join(want, "") {
				t.Errorf("the states are %q, want %q", got, want)
			}
			if n := len(kinds[item.Setup](h.log())); n != 1 {
				t.Errorf("%d setups", n)
			}
			if last := string(requests[9]); !strings.Contains(last, "You are a pod") || !strings.Contains(last, "Workspace: "+h.dir) {
				t.Errorf("the request has no instructions of podd's: %s", last)
			}
		})
	}
}

// The transaction of the claim has the state, after the user's message and before the
// setup, so that a kill at any time leaves a log that explains the requests.
func TestStateIsStoredWithTheClaim(t *testing.T) {
	f, asked := new(faulty), make(chan struct{}, 1)
	var killed atomic.Bool
	h := newTold(t, "chat", func(ctx context.Context, _ scripted.Request) scripted.Reply {
		if !killed.Load() {
			asked <- struct{}{}
			<-ctx.Done()
		}
		return scripted.Say(scripted.Text("done"))
	}, func(c *options) { f.Store, c.Store = c.Store, f })
	submitted := h.submit("go")
	<-asked
	killed.Store(true)
	h.at(24)
	h.kill(f)
	h.ended(submitted)
	if first, again := h.body(1), h.body(2); again != first {
		t.Errorf("after a kill the same request is\n%s\nwas\n%s", again, first)
	}
	var order []string
	for _, e := range h.log()[1:5] {
		switch k := e.Kind.(type) {
		case item.TurnStarted:
			order = append(order, "started")
		case item.Setup:
			order = append(order, "setup")
		case item.ItemAdded:
			order = append(order, strings.SplitN(texts([]item.Entry{{Kind: k}})[0], ":", 2)[0])
		}
	}
	if got := strings.Join(order, " "); got != "started user state setup" {
		t.Errorf("the claim is %q", got)
	}
}

// State that requests no longer have is added again: after a compaction, in the middle of
// a turn too, and after a rewind. A fork has what its log has.
func TestStateIsSaidAgainWhenItIsNotSent(t *testing.T) {
	var full atomic.Bool
	h := newTold(t, "chat", summarizer(1<<30, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case full.CompareAndSwap(true, false):
			return scripted.Fail(400, "context_length_exceeded", "too long", 0)
		case len(r.Results()) > 0:
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(shell("cat big.txt; echo"))
	}), tight)
	h.writeBig()
	const day = "Today is Monday, 23 November 2026"
	sends := func(what string, n int) {
		t.Helper()
		if got := strings.Count(h.context(), day); got != n {
			t.Errorf("%s: the next request says the day %d times, want %d", what, got, n)
		}
	}
	h.run("one")
	first := h.log()
	sends("a turn", 1)
	h.byHand()
	sends("a compaction between turns", 0)
	h.run("two")
	sends("the turn after it", 1)
	full.Store(true)
	h.run("three")
	sends("a compaction in a turn", 1)
	if got := len(states(h.log())); got != 3 {
		t.Errorf("the log has %d states", got)
	}
	if _, err := h.host.Fork(t.Context(), "p", "q", 0); err != nil {
		t.Fatal(err)
	}
	if got := len(states(h.logOf("q"))); got == 0 {
		t.Errorf("the fork has %d states", got)
	}
	if _, err := h.host.Rewind(t.Context(), "p", first[0].Seq); err != nil {
		t.Fatal(err)
	}
	sends("a rewind", 0)
	h.run("four")
	sends("the turn after that", 1)
}

// With "none" podd adds no text of its own, and a file replaces the built-in text. If the
// file is missing at the next turn, that turn does not begin, and the error says what to
// do.
func TestBaseInstructionsOfAPod(t *testing.T) {
	h := newTold(t, "chat", steps(scripted.Say(scripted.Text("done"))))
	file := filepath.Join(t.TempDir(), "base.md")
	if err := os.WriteFile(file, []byte("Be a poet.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.update(item.PodSpec{Dir: h.dir, BaseInstructions: file, Instructions: "Rhyme."})
	if got := h.context(); !strings.Contains(got, `"Be a poet.\n\nEnvironment:\n- Workspace: `) || !strings.Contains(got, `\n\nRhyme."`) || strings.Contains(got, "You are a pod") {
		t.Errorf("with a file the request is %s", got)
	}
	h.update(item.PodSpec{Dir: h.dir, BaseInstructions: "none", Instructions: "Rhyme."})
	h.run("go")
	if got := h.body(1); !strings.Contains(got, `{"role":"system","content":"Rhyme."},{"role":"user","content":"go"}`) {
		t.Errorf("with none the request is %s", got)
	}
	h.update(item.PodSpec{Dir: h.dir, BaseInstructions: file})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, err := h.host.Context(t.Context(), "p")
	if item.ReasonOf(err) != "BASE_INSTRUCTIONS" || !strings.Contains(err.Error(), "podctl update p --base-instructions") {
		t.Errorf("without the file the error is %v", err)
	}
	for _, bad := range []string{"base.md", file, h.dir} {
		_, err := h.host.Create(t.Context(), "bad", item.PodSpec{Dir: h.dir, BaseInstructions: bad})
		if item.KindOf(err) != item.KindInvalid || !strings.Contains(err.Error(), "base_instructions") {
			t.Errorf("a pod with %s gives the error %v", bad, err)
		}
	}
}
