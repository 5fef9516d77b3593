package pod_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
)

// chores is a turn of three steps with three calls, each of which leaves a mark.
var chores = steps(
	scripted.Say(scripted.Text("first two"), scripted.Call{Name: "mark", Arguments: `{"file":"a"}`}, shell("echo x >> b")),
	scripted.Say(scripted.Call{Name: "mark", Arguments: `{"file":"c"}`}),
	scripted.Say(scripted.Text("done")),
)

// mark is a tool that leaves a mark in a file of dir each time that it runs, and can't
// find out later whether it did.
func mark(dir string) tool.Tool {
	type args struct {
		File string `json:"file"`
	}
	return tool.New("mark", "Leave a mark.", func(_ context.Context, _ *tool.Invocation, a args) (tool.Output, error) {
		f, err := os.OpenFile(filepath.Join(dir, filepath.Base(a.File)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Output{}, err
		}
		defer f.Close()
		_, err = f.WriteString("x\n")
		return tool.FromString("marked " + a.File), err
	}, tool.Confined[args]())
}

// shape is the kinds of a log's items in order.
func shape(entries []item.Entry) string {
	var out []string
	for _, it := range items(entries) {
		out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", it), "item."))
	}
	return strings.Join(out, " ")
}

// countdown calls hit at the nth stored batch after the submit.
type countdown struct {
	mu   sync.Mutex
	left int
	hit  chan struct{}
	// refuse refuses every later write.
	refuse bool
}

func (c *countdown) check(b store.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if holds[item.Submitted](b) {
		return nil
	}
	c.left--
	if c.left == 0 {
		close(c.hit)
	}
	if c.left <= 0 && c.refuse {
		return errKilled
	}
	return nil
}

// A turn that podd's end interrupts at any of its write points resumes and finishes; the
// conversation has the same shape, and no call runs twice. The model's server checks that
// each request is well formed.
func TestEndsAtEachWritePoint(t *testing.T) {
	const want = "UserMessage AssistantMessage ToolCall ToolCall ToolResult ToolResult ToolCall ToolResult AssistantMessage"
	for name, chain := range map[string]func(*options){"no interceptor": func(*options) {}, "an interceptor": with(&edges{})} {
		for _, kill := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, kill %v", name, kill), func(t *testing.T) {
				for n := 1; ; n++ {
					if !endAt(t, n, kill, want, chain) {
						t.Logf("%d write points", n-1)
						if n < 7 {
							t.Errorf("a turn of three steps has only %d write points", n-1)
						}
						break
					}
				}
			})
		}
	}
}

// endAt ends podd at the nth write of a turn; false when the turn has fewer.
func endAt(t *testing.T, n int, kill bool, want string, chain func(*options)) (more bool) {
	t.Run(fmt.Sprint(n), func(t *testing.T) {
		f, dir := new(faulty), t.TempDir()
		h := newHouse(t, chores, chain, func(c *options) { c.Tools = append(c.Tools, mark(dir)) }, func(c *options) { f.Store, c.Store = c.Store, f })
		c := &countdown{left: n, hit: make(chan struct{}), refuse: kill}
		f.set(c.check)
		s := h.submit("go")
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(ended)
			for e := range h.follow(ctx, s.Seq) {
				if _, ok := e.Kind.(item.TurnEnded); ok {
					return
				}
			}
		}()
		select {
		case <-c.hit:
			more = true
		case <-ended:
		}
		cancel()
		<-ended
		if kill {
			h.kill(f)
		} else {
			f.set(nil)
			h.restart()
		}
		if end := h.ended(s); end.Outcome != item.OutcomeFinished {
			t.Errorf("end %+v", end)
		}
		log := h.log()
		if got := shape(log); got != want {
			t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
		}
		for _, path := range []string{filepath.Join(dir, "a"), filepath.Join(h.dir, "b"), filepath.Join(dir, "c")} {
			if got, err := os.ReadFile(path); err == nil && len(got) > 2 {
				t.Errorf("the call for %s ran %d times", filepath.Base(path), len(got)/2)
			}
		}
		if r := recoveries(log); len(r) > 1 {
			t.Errorf("recovered %+v", r)
		}
		if !slices.ContainsFunc(kinds[item.TurnStarted](log), func(k item.TurnStarted) bool { return k.RequestIDs[0] == s.RequestID }) {
			t.Error("the submit is lost")
		}
		// The next turn finds a well-formed conversation.
		if end := h.run("next"); end.Outcome != item.OutcomeFinished {
			t.Errorf("next end %+v", end)
		}
	})
	return more
}

// A turn that is given up looks up the outcome of its commands once more, and not again
// if podd ends during that too.
func TestGivenUpWithTheResult(t *testing.T) {
	type args struct{}
	for name, again := range map[string]bool{"found": false, "ends podd": true} {
		t.Run(name, func(t *testing.T) {
			began := make(chan int)
			var recoveries atomic.Int32
			long := tool.New("long", "Take long.", func(ctx context.Context, _ *tool.Invocation, _ args) (tool.Output, error) {
				began <- 0
				<-ctx.Done()
				return tool.Output{}, tool.ErrGoesOn
			}, tool.Confined[args](), tool.Recovers(func(ctx context.Context, _ *tool.Invocation, _ args) (tool.Output, item.Recovery, error) {
				n := int(recoveries.Add(1))
				if n == 4 && !again {
					return tool.FromString("the real result"), item.RecoveryFound, nil
				}
				began <- n
				<-ctx.Done()
				return tool.Output{}, item.RecoveryUnknown, tool.ErrGoesOn
			}))
			h, f := newFaultyHouse(t, steps(scripted.Say(scripted.Call{Name: "long", Arguments: `{}`})), func(c *options) {
				c.Tools = append(c.Tools, long)
			})
			s := h.submit("go")
			kills, result := 4, "the real result"
			if again {
				kills, result = 5, "interrupted; it may have taken effect: check before you repeat it"
			}
			for range kills {
				<-began
				h.kill(f)
			}
			h.wantEnd(h.ended(s), item.OutcomeInterrupted, "RECOVERY", fmt.Sprintf("stopped %d times at the same step, last because podd stopped during the turn", kills))
			if got := results(h.log()); len(got) != 1 || got[0].Summary != result {
				t.Errorf("results %+v", got)
			}
			if n := recoveries.Load(); n != 4 {
				t.Errorf("the tool was asked %d times", n)
			}
		})
	}
}

// A result that waits for an earlier call that goes on is stored before podd stops: another
// node could not find it.
func TestStoresResultsBesideACallThatGoesOn(t *testing.T) {
	type args struct{}
	began, quickEnded := make(chan struct{}), make(chan struct{})
	wait := tool.New("wait", "Wait.", func(ctx context.Context, _ *tool.Invocation, _ args) (tool.Output, error) {
		close(began)
		<-ctx.Done()
		return tool.Output{}, tool.ErrGoesOn
	}, tool.Confined[args](), tool.Recovers(func(context.Context, *tool.Invocation, args) (tool.Output, item.Recovery, error) {
		return tool.FromString("waited"), item.RecoveryFound, nil
	}))
	quick := tool.New("quick", "Be quick.", func(context.Context, *tool.Invocation, args) (tool.Output, error) {
		defer close(quickEnded)
		return tool.FromString("quick"), nil
	}, tool.Confined[args]())
	h := newHouse(t, steps(
		scripted.Say(scripted.Call{Name: "wait", Arguments: `{}`}, scripted.Call{Name: "quick", Arguments: `{}`}),
		scripted.Say(scripted.Text("done")),
	), func(c *options) { c.Tools = append(c.Tools, wait, quick) })
	s := h.submit("go")
	<-began
	<-quickEnded
	h.restart()
	h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
	for _, r := range results(h.log()) {
		if want := map[string]string{"wait": "waited", "quick": "quick"}[r.Tool]; r.Summary != want {
			t.Errorf("the result of %s is %q", r.Tool, r.Summary)
		}
	}
}

// A call that may run again does after a kill, with the same key, if nobody forbids it or has to be asked
// anew by then.
func TestRepeatsWhatIsAllowed(t *testing.T) {
	type args struct{}
	const unknown = "interrupted; it may have taken effect: check before you repeat it"
	ask := func(why string) func(interceptor.Call) interceptor.CallVerdict {
		return func(c interceptor.Call) interceptor.CallVerdict { return c.Ask(why) }
	}
	for name, tt := range map[string]struct {
		before, after func(interceptor.Call) interceptor.CallVerdict
		asks          bool
		again         error
		want          string
		how           item.Recovery
		runs          int32
	}{
		"allowed":    {before: interceptor.Call.Continue, after: interceptor.Call.Continue, want: "seen", how: item.RecoveryAgain, runs: 2},
		"approved":   {asks: true, before: ask("may it?"), after: ask("may it?"), want: "seen", how: item.RecoveryAgain, runs: 2},
		"asks anew":  {asks: true, before: ask("may it?"), after: ask("really?"), want: unknown, how: item.RecoveryUnknown, runs: 1},
		"asks now":   {before: interceptor.Call.Continue, after: ask("may it?"), want: unknown, how: item.RecoveryUnknown, runs: 1},
		"forbidden":  {before: interceptor.Call.Continue, after: func(c interceptor.Call) interceptor.CallVerdict { return c.Deny("not any more") }, want: unknown, how: item.RecoveryUnknown, runs: 1},
		"fails then": {before: interceptor.Call.Continue, after: interceptor.Call.Continue, again: errors.New("no answer"), want: "look: interrupted, and podd's second try failed: no answer; it may have taken effect: check before you repeat it", how: item.RecoveryUnknown, runs: 2},
	} {
		t.Run(name, func(t *testing.T) {
			began, keys := make(chan struct{}, 2), make(chan string, 2)
			var runs atomic.Int32
			var killed atomic.Bool
			look := tool.New("look", "Look.", func(ctx context.Context, call *tool.Invocation, _ args) (tool.Output, error) {
				keys <- call.Key
				began <- struct{}{}
				if runs.Add(1) == 1 {
					<-ctx.Done()
				}
				return tool.FromString("seen"), tt.again
			}, tool.Confined[args](), tool.Repeats[args]())
			h, f := newFaultyHouse(t, steps(scripted.Say(scripted.Call{Name: "look", Arguments: `{}`}), scripted.Say(scripted.Text("done"))), func(c *options) {
				c.Tools = append(c.Tools, look)
				with(&edges{call: func(c interceptor.Call) interceptor.CallVerdict {
					if killed.Load() {
						return tt.after(c)
					}
					return tt.before(c)
				}})(c)
			})
			s := h.submit("go")
			if tt.asks {
				h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
			}
			<-began
			killed.Store(true)
			h.kill(f)
			h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
			if got := results(h.log()); len(got) != 1 || got[0].Summary != tt.want || got[0].Recovery != tt.how || runs.Load() != tt.runs {
				t.Errorf("ran %d times, results %+v", runs.Load(), got)
			}
			if first := <-keys; first == "" || tt.runs == 2 && <-keys != first {
				t.Error("the call has no key, or another one after the kill")
			}
		})
	}
}
