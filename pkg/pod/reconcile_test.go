package pod_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/tool"
)

// A call whose outcome its tool does not know after a kill has that of its reconciler, and the model reads which
// it is. An error leaves it unknown.
func TestReconciledCalls(t *testing.T) {
	const unknown = "interrupted; it may have taken effect: check before you repeat it"
	for name, tt := range map[string]struct {
		out  tool.Output
		how  item.Recovery
		err  error
		want string
		end  item.Recovery
		// gone says that the tool is gone after the kill.
		gone bool
	}{
		"done":           {out: tool.FromString("it is done"), how: item.RecoveryFound, want: "it is done", end: item.RecoveryFound},
		"not done":       {out: tool.FromString("not done"), how: item.RecoveryNoEffect, want: "not done", end: item.RecoveryNoEffect},
		"without a tool": {out: tool.FromString("it is done"), how: item.RecoveryFound, want: "it is done", end: item.RecoveryFound, gone: true},
		"fails":          {how: item.RecoveryUnknown, err: errors.New("its reconciler is silent"), want: unknown + "; its reconciler is silent", end: item.RecoveryUnknown},
		"nobody":         {want: unknown, end: item.RecoveryUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			act := newActing()
			var mu sync.Mutex
			var lost []tool.Lost
			killed := false
			h, f := newFaultyHouse(t, steps(scripted.Say(act.call), scripted.Say(scripted.Text("done"))), func(c *options) {
				if !killed || !tt.gone {
					c.Tools = append(c.Tools, act.tool)
				}
				c.Reconcile = func(_ context.Context, l tool.Lost) (tool.Output, item.Recovery, error) {
					mu.Lock()
					defer mu.Unlock()
					lost = append(lost, l)
					return tt.out, tt.how, tt.err
				}
			})
			s := h.submit("go")
			key := <-act.keys
			killed = true
			h.kill(f)
			h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
			if got := results(h.log()); len(got) != 1 || got[0].Summary != tt.want || got[0].Recovery != tt.end {
				t.Errorf("results %+v", got)
			}
			if !strings.Contains(h.body(2), tt.want) {
				t.Errorf("the model does not read %q:\n%s", tt.want, h.body(2))
			}
			mu.Lock()
			defer mu.Unlock()
			if len(lost) != 1 || lost[0].Key != key || lost[0].Tool != "act" || lost[0].Arguments != "{}" || lost[0].Turn != 1 || !lost[0].Began.Equal(beganAt(h.log())) {
				t.Errorf("asked about %+v", lost)
			}
		})
	}
}

// acting is a tool that hangs, and knows nothing of its calls later.
type acting struct {
	tool tool.Tool
	call scripted.Call
	keys chan string
}

func newActing() acting {
	type args struct{}
	a := acting{call: scripted.Call{Name: "act", Arguments: "{}"}, keys: make(chan string, 1)}
	a.tool = tool.New("act", "Acts.", func(ctx context.Context, call *tool.Invocation, _ args) (tool.Output, error) {
		a.keys <- call.Key
		<-ctx.Done()
		return tool.Output{}, context.Cause(ctx)
	}, tool.Confined[args]())
	return a
}

// beganAt is when the call began.
func beganAt(log []item.Entry) (at time.Time) {
	for _, e := range log {
		if _, ok := e.Kind.(item.ToolStarted); ok {
			at = e.Time
		}
	}
	return at
}

// While a reconciler runs, the turn can be cancelled, and podd can stop: the next one asks again.
func TestWhileAReconcilerRuns(t *testing.T) {
	for name, cancels := range map[string]bool{"cancel": true, "stop": false} {
		t.Run(name, func(t *testing.T) {
			act, asked := newActing(), make(chan struct{}, 1)
			var mu sync.Mutex
			times := 0
			h, f := newFaultyHouse(t, steps(scripted.Say(act.call), scripted.Say(scripted.Text("done"))), func(c *options) {
				c.Tools = append(c.Tools, act.tool)
				c.Reconcile = func(ctx context.Context, _ tool.Lost) (tool.Output, item.Recovery, error) {
					mu.Lock()
					times++
					again := times > 1
					mu.Unlock()
					if again {
						return tool.FromString("it is done"), item.RecoveryFound, nil
					}
					asked <- struct{}{}
					<-ctx.Done()
					return tool.Output{}, item.RecoveryUnknown, context.Cause(ctx)
				}
			})
			s := h.submit("go")
			<-act.keys
			h.kill(f)
			<-asked
			if cancels {
				if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
					t.Errorf("cancelled %v, %v", cancelled, err)
				}
				h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
			} else {
				h.restart()
				h.wantEnd(h.ended(s), item.OutcomeFinished, "", "")
			}
			want := []item.Recovery{item.RecoveryFound}
			if cancels {
				want[0] = item.RecoveryUnknown
			}
			var got []item.Recovery
			for _, r := range results(h.log()) {
				got = append(got, r.Recovery)
			}
			if !slices.Equal(got, want) {
				t.Errorf("outcomes %q", got)
			}
		})
	}
}
