package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// killed kills podd, starts it again on the same state, and waits until the pod reaches a
// state.
func (p *process) killed(url string, state poddv1.PodState) (*process, *client.Client, *poddv1.Pod) {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	p.wait()
	next := startPodd(p.t, p.state, url)
	c := next.client()
	return next, c, inState(p.t, c, state)
}

// inState waits until the pod reaches a state.
func inState(t *testing.T, c *client.Client, state poddv1.PodState) *poddv1.Pod {
	t.Helper()
	for {
		got, err := c.Pods().GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "p"})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetPod().GetState() == state {
			return got.GetPod()
		}
	}
}

func wantFinished(t *testing.T, log []*poddv1.Entry) {
	t.Helper()
	if end := log[len(log)-1].GetTurnEnded(); end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
		t.Errorf("end %v", end)
	}
}

// Everything that waits when podd is killed still waits after the restart, and one call
// of a client continues it.
func TestKillWhileSomethingWaits(t *testing.T) {
	t.Run("an approval", func(t *testing.T) {
		dir, state := t.TempDir(), stateDir(t)
		url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
			if r.Steps() == 0 {
				return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo x >> ran"}`})
			}
			return scripted.Say(scripted.Text("on we go"))
		})
		p := startPodd(t, state, url)
		c := p.client()
		spec := &poddv1.PodSpec{Dir: dir, Ask: "always"}
		if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: spec}); err != nil {
			t.Fatal(err)
		}
		submit(t, c, "go")
		inState(t, c, poddv1.PodState_POD_STATE_WAITING)
		for range 4 {
			p, c, _ = p.killed(url, poddv1.PodState_POD_STATE_WAITING)
		}
		waiting, err := c.Approvals().ListApprovals(t.Context(), &poddv1.ListApprovalsRequest{})
		if err != nil || len(waiting.GetApprovals()) != 1 {
			t.Fatalf("approvals %v, %v", waiting, err)
		}
		q := waiting.GetApprovals()[0]
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil || !strings.Contains(q.GetArguments(), "echo x >> ran") {
			t.Errorf("asked %v", q)
		}
		if _, err := c.Approvals().ResolveApproval(t.Context(), &poddv1.ResolveApprovalRequest{
			Pod: "p", CallSeq: q.GetCallSeq(), Approve: true, Digest: q.GetDigest(),
		}); err != nil {
			t.Fatal(err)
		}
		wantFinished(t, until(t, c, turnEnded(1)))
		if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != "x\n" {
			t.Errorf("ran %q", ran)
		}
	})
	t.Run("two submits", func(t *testing.T) {
		state, asked := stateDir(t), make(chan struct{}, 1)
		var once sync.Once
		url := model(t, func(context.Context, scripted.Request) scripted.Reply {
			stall := false
			once.Do(func() { stall = true })
			if stall {
				asked <- struct{}{}
				return scripted.Say(scripted.Text("so far"), scripted.Stall{})
			}
			return scripted.Say(scripted.Text("fine"))
		})
		p := startPodd(t, state, url)
		c := p.client()
		createAndSubmit(t, c, t.TempDir())
		<-asked
		submit(t, c, "second")
		submit(t, c, "third")
		p.signal(syscall.SIGKILL)
		p.wait()
		c = startPodd(t, state, url).client()
		log := until(t, c, turnEnded(3))
		wantFinished(t, log)
		var users []string
		for _, e := range log {
			if m := e.GetItem().GetUserMessage(); m != nil {
				users = append(users, m.GetText())
			}
		}
		if strings.Join(users, " ") != "go second third" {
			t.Errorf("turns in the order %q", users)
		}
	})
	t.Run("a pause", func(t *testing.T) {
		state := stateDir(t)
		url := model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("fine")) })
		p := startPodd(t, state, url)
		c := p.client()
		if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Pods().Pause(t.Context(), &poddv1.PauseRequest{Pod: "p"}); err != nil {
			t.Fatal(err)
		}
		submit(t, c, "go")
		_, c, pod := p.killed(url, poddv1.PodState_POD_STATE_PAUSED)
		if pod.GetTurn() != 0 || pod.GetQueued() != 1 {
			t.Errorf("pod %v", pod)
		}
		if _, err := c.Pods().Resume(t.Context(), &poddv1.ResumeRequest{Pod: "p"}); err != nil {
			t.Fatal(err)
		}
		wantFinished(t, until(t, c, turnEnded(1)))
	})
	t.Run("a quota", func(t *testing.T) {
		state := stateDir(t)
		url := model(t, func(context.Context, scripted.Request) scripted.Reply {
			return scripted.Fail(429, "rate_limit_exceeded", "slow down", time.Hour)
		})
		p := startPodd(t, state, url)
		c := p.client()
		createAndSubmit(t, c, t.TempDir())
		before := inState(t, c, poddv1.PodState_POD_STATE_WAITING)
		for range 4 {
			var after *poddv1.Pod
			if p, c, after = p.killed(url, poddv1.PodState_POD_STATE_WAITING); !after.GetWaitUntil().AsTime().Equal(before.GetWaitUntil().AsTime()) {
				t.Errorf("waits until %v, before %v", after.GetWaitUntil().AsTime(), before.GetWaitUntil().AsTime())
			}
		}
		if _, err := c.Pods().Cancel(t.Context(), &poddv1.CancelRequest{Pod: "p"}); err != nil {
			t.Fatal(err)
		}
		log := until(t, c, turnEnded(1))
		if end := log[len(log)-1].GetTurnEnded(); end.GetOutcome() != poddv1.Outcome_OUTCOME_CANCELLED {
			t.Errorf("end %v", end)
		}
	})
}
