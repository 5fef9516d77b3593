package pod_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podd/internal/report"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// hanging is a configuration of workspaces one of which does not answer while it hangs.
type hanging struct {
	mu   sync.Mutex
	dir  string
	gate chan struct{}
}

// newHangingHouse is a house whose pod's workspace can hang, and a second pod "q" whose
// workspace works. All waits are short.
func newHangingHouse(t *testing.T, handler scripted.Handler, config ...func(*options)) (*house, *hanging) {
	t.Helper()
	pod.Impatient(t)
	g := &hanging{gate: make(chan struct{})}
	close(g.gate)
	h := newHouse(t, handler, append(config, func(c *options) { c.Project = g.project })...)
	t.Cleanup(func() { g.letGo() })
	if _, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return h, g
}

func (g *hanging) project(dir string) workspace.Project {
	g.mu.Lock()
	gate, hangs := g.gate, dir == g.dir
	g.mu.Unlock()
	if hangs {
		<-gate
	}
	return workspace.Project{}
}

func (g *hanging) hang(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dir, g.gate = dir, make(chan struct{})
}

func (g *hanging) letGo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dir != "" {
		close(g.gate)
		g.dir = ""
	}
}

// silent waits until the pod says that its workspace does not answer.
func (h *house) silent() {
	h.t.Helper()
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && strings.Contains(p.Status.Reason, "the workspace "+h.dir+" does not answer")
	})
}

// othersWork checks that other pods work while the workspace of the pod "p" hangs.
func (h *house) othersWork() {
	h.t.Helper()
	h.runOther()
	if _, err := h.host.Approvals(h.t.Context(), ""); err != nil {
		h.t.Error(err)
	}
	if list, err := h.host.List(h.t.Context(), ""); err != nil || len(list) != 2 {
		h.t.Errorf("listed %d pods, %v", len(list), err)
	}
	if _, err := report.Count(h.t.Context(), h.host, ""); err != nil {
		h.t.Error(err)
	}
}

// A workspace that does not answer blocks only its own pod, which says so: the others
// work, podd stops and starts, the turn can be cancelled, and waiting submits run once
// the workspace answers.
func TestSilentWorkspace(t *testing.T) {
	h, g := newHangingHouse(t, steps())
	g.hang(h.dir)
	first := h.submit("go")
	h.silent()
	h.othersWork()
	if turn, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); turn != 1 || !cancelled || err != nil {
		t.Errorf("turn %d, cancelled %v, %v", turn, cancelled, err)
	}
	h.wantEnd(h.ended(first), item.OutcomeCancelled, "CANCELLED", "enough")
	second := h.submit("once more")
	h.silent()
	h.restart()
	h.silent()
	h.othersWork()
	g.letGo()
	if end := h.ended(second); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle })
}

// A call that asks is shown and can be answered while the workspace does not answer, and
// its open turn can be cancelled.
func TestSilentWorkspaceOfAnOpenTurn(t *testing.T) {
	for name, cancels := range map[string]bool{"approved": false, "cancelled": true} {
		t.Run(name, func(t *testing.T) {
			h, g := newHangingHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
				if r.LastUser() == "go" && r.Steps() == 0 {
					return scripted.Say(shell("echo x >> ran"))
				}
				return scripted.Say(scripted.Text("done"))
			}, with(asks("ran")))
			s := h.submit("go")
			h.asked(1)
			g.hang(h.dir)
			h.restart()
			h.silent()
			h.othersWork()
			q := h.asked(1)[0]
			if cancels {
				if turn, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); turn != 1 || !cancelled || err != nil {
					t.Errorf("turn %d, cancelled %v, %v", turn, cancelled, err)
				}
				h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
				h.asked(0)
				return
			}
			h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true})
			g.letGo()
			if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" {
				t.Errorf("end %+v, ran %q", end, h.read("ran"))
			}
		})
	}
}

// A turn that has not begun is refused as a running one: it can be cancelled, unlike work on the pod's files.
func TestBusyWithATurnThatHasNotBegun(t *testing.T) {
	h, g := newHangingHouse(t, greets)
	g.hang(h.dir)
	s := h.submit("go")
	h.silent()
	err := h.host.Alone(t.Context(), "p", "land it", func(context.Context, *pod.Idle) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "pod p is running a turn: wait for its end or cancel it, then land it") {
		t.Errorf("work alone: %v", err)
	}
	if _, err := h.host.Compact(t.Context(), "p"); err == nil || !strings.Contains(err.Error(), "running a turn") {
		t.Errorf("a compaction: %v", err)
	}
	g.letGo()
	h.ended(s)
}

// A turn whose workspace does not answer while podd decides on a call can be cancelled; the call does not run.
func TestCancelWhileACallIsPlanned(t *testing.T) {
	type args struct{}
	for _, step := range []string{"access", "preview", "plan"} {
		t.Run(step, func(t *testing.T) {
			pod.Impatient(t)
			planning, gate := make(chan struct{}), make(chan struct{})
			reach := func(at string) {
				if at == step {
					close(planning)
					<-gate
				}
			}
			var ran atomic.Bool
			plans := tool.New("plans", "Plans.", func(context.Context, *tool.Invocation, args) (tool.Output, error) {
				ran.Store(true)
				return tool.FromString("done"), nil
			}, tool.Touches(func(args) tool.Access {
				reach("access")
				return tool.Access{Writes: true, Confined: step != "preview"}
			}), tool.Previews(func(context.Context, *tool.Invocation, args) (tool.Preview, error) {
				reach("preview")
				return tool.Preview{}, nil
			}), tool.Plans(func(context.Context, *tool.Invocation, args) []item.PlannedChange {
				reach("plan")
				return nil
			}))
			h := newHouse(t, steps(scripted.Say(called("plans"))), func(c *options) { c.Tools = append(c.Tools, plans) })
			t.Cleanup(func() { close(gate) })
			s := h.submit("go")
			<-planning
			if _, cancelled, err := h.host.Cancel(t.Context(), "p", "enough"); !cancelled || err != nil {
				t.Errorf("cancelled %v, %v", cancelled, err)
			}
			h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
			if ran.Load() || len(kinds[item.ToolStarted](h.log())) > 0 {
				t.Error("the call began")
			}
			if got := results(h.log()); len(got) != 1 || got[0].Summary != "plans: not run: the turn ended first" {
				t.Errorf("results %+v", got)
			}
		})
	}
}

// A panic while a workspace is read is an error of its own pod, which retries.
func TestPanicWhileAWorkspaceIsRead(t *testing.T) {
	var mended atomic.Bool
	h := newHouse(t, steps(), func(c *options) {
		c.Project = func(string) workspace.Project {
			if !mended.Load() {
				panic("boom")
			}
			return workspace.Project{}
		}
	})
	_, err := h.host.Context(t.Context(), "p")
	wantError(t, err, item.KindInternal, "INTERNAL")
	s := h.submit("go")
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && strings.HasSuffix(p.Status.Reason, "internal error in podd: see its log")
	})
	mended.Store(true)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// A tool that hangs in a system call does not keep podd from stopping. Its turn resumes
// at the next start.
func TestStopWhileAToolHangs(t *testing.T) {
	type args struct{}
	began, gate := make(chan struct{}), make(chan struct{})
	hangs := tool.New("hangs", "Hangs.", func(context.Context, *tool.Invocation, args) (tool.Output, error) {
		close(began)
		<-gate
		return tool.FromString("late"), nil
	}, tool.Confined[args]())
	pod.Impatient(t)
	h := newHouse(t, steps(scripted.Say(scripted.Call{Name: "hangs", Arguments: `{}`})), func(c *options) { c.Tools = append(c.Tools, hangs) })
	t.Cleanup(func() { close(gate) })
	s := h.submit("go")
	<-began
	h.restart()
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
	if got := results(h.log()); len(got) != 1 || !strings.Contains(got[0].Summary, "may have taken effect") {
		t.Errorf("results %+v", got)
	}
}

// A pod that podd could not recover at its start, for lack of space, says so, shows its
// waiting calls, and continues once there is space.
func TestRecoveryWithoutSpace(t *testing.T) {
	h, f := newFaultyHouse(t, steps(scripted.Say(shell("echo x >> ran"))), with(asks("ran")))
	s := h.submit("go")
	asked := h.asked(1)[0]
	f.claim(func(string) error { return errFull })
	h.restart()
	h.await(func(p item.Pod) bool {
		return p.Status.State == item.StateWaiting && strings.Contains(p.Status.Reason, "no space")
	})
	if again := h.asked(1)[0]; !reflect.DeepEqual(again, asked) {
		t.Errorf("the call that waits is %+v, was %+v", again, asked)
	}
	f.claim(nil)
	h.await(func(p item.Pod) bool { return p.Status.Reason == "waiting for approval" })
	for h.host.Counts().Loaded == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the pod is not loaded")
		}
	}
	h.resolve(pod.Resolution{CallSeq: asked.CallSeq, Approve: true})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" {
		t.Errorf("end %+v, ran %q", end, h.read("ran"))
	}
}

// Pods with an intact log are counted although another one's log is damaged; the damaged
// one is named.
func TestStatsBesideADamagedLog(t *testing.T) {
	h := newHouse(t, steps())
	if _, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	h.run("whatever")
	h.runOther()
	h.damage("whatever")
	got, err := report.Count(t.Context(), h.host, "")
	if err != nil || got.Turns != 1 || got.Usage.Requests != 1 || strings.Join(got.Damaged, " ") != "p" {
		t.Errorf("stats %+v, %v", got, err)
	}
	_, err = report.Count(t.Context(), h.host, "p")
	wantError(t, err, item.KindDataLoss, "DAMAGED")
	h.replaced()
}
