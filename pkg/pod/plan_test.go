package pod_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// plans submits text for a turn that only plans, or says that it does not.
func (h *house) plans(text string, plan bool) pod.Submitted {
	h.t.Helper()
	got, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}, Plan: &plan})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// outward is a tool of another program: nothing is known of what it does.
func outward(t *testing.T, ran *int) tool.Tool {
	t.Helper()
	f, err := tool.NewForeign(tool.Foreign{
		ToolSpec: item.ToolSpec{Name: "outward", Description: "does something", Schema: `{"type":"object"}`},
		Touches:  func() tool.Access { return tool.Access{} },
		Call: func(context.Context, *tool.Invocation) (tool.Output, error) {
			*ran++
			return tool.FromString("did it"), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Without a sandbox no command runs in a turn that only plans, whatever the operator said of
// commands, and a tool of another program needs a rule. podd asks no question about what it denies.
// A rule that allows lets it run, and the next turn acts.
func TestPlanDeniesWhatMayChangeSomething(t *testing.T) {
	ran := 0
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if len(r.Results()) > 0 {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(shell("touch made"), call("write_file", `{"path":"made","content":""}`), call("outward", `{}`), call("read_file", `{"path":"big.txt"}`))
	}, func(c *options) { c.Tools = append(c.Tools, outward(t, &ran)) })
	h.writeBig()
	h.ended(h.plans("plan it", true))
	got := results(h.log())
	want := []string{
		"shell: denied: this turn only plans, so a command needs a sandbox",
		"write_file: denied: this turn only plans, and the call changes files",
		"outward: denied: this turn only plans, and no rule allows this tool",
		"read_file: big.txt",
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i].Summary, w) {
			t.Errorf("result %d is %q, want %q", i+1, got[i].Summary, w)
		}
	}
	if len(kinds[item.ApprovalRequested](h.log())) > 0 || h.exists("made") || ran > 0 {
		t.Errorf("asked %v, made %t, ran %d", kinds[item.ApprovalRequested](h.log()), h.exists("made"), ran)
	}
	if said := states(h.log()); len(said) != 1 || !strings.HasPrefix(said[0], "Mode: plan. ") {
		t.Errorf("the states are %q", said)
	}
	h.update(item.PodSpec{Dir: h.dir, Rules: []item.Rule{{Tool: "outward", Decision: "allow"}}})
	h.ended(h.plans("plan on", true))
	if ran != 1 || h.exists("made") {
		t.Errorf("with a rule the tool ran %d times", ran)
	}
	h.ended(h.plans("act", false))
	if !h.exists("made") {
		t.Error("the next turn does not act")
	}
	if said := states(h.log()); len(said) != 2 || said[1] != "Mode: act.\n" {
		t.Errorf("the states are %q", said)
	}
}

// Only a prompt ends plan mode, not a restart, a note that wakes the
// pod, a resume. A submit that steers follows its turn.
func TestOnlyAPromptLeavesPlanMode(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if len(r.Results()) > 0 {
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(call("write_file", `{"path":"made","content":""}`))
	})
	h.ended(h.plans("plan it", true))
	h.restart()
	h.notify("look again", true)
	turn := int64(0)
	for e := range h.follow(t.Context(), 0) {
		if _, ok := e.Kind.(item.TurnEnded); ok {
			if turn = e.Turn; turn == 2 {
				break
			}
		}
	}
	if started := kinds[item.TurnStarted](h.log()); len(started) != 2 || !started[1].Plan || h.exists("made") {
		t.Errorf("the turns are %+v", started)
	}
	plan := true
	_, err := h.host.Submit(t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: "x"}}, Plan: &plan, Mode: item.ModeSteer})
	if item.ReasonOf(err) != "PLAN_STEER" {
		t.Errorf("a steering submit gives the error %v", err)
	}
	h.update(item.PodSpec{Dir: h.dir, Plan: true})
	h.run("as the pod does")
	if started := kinds[item.TurnStarted](h.log()); !started[2].Plan || h.exists("made") {
		t.Errorf("the turns are %+v", started)
	}
	h.ended(h.plans("act", false))
	if _, err := os.Stat(h.dir + "/made"); err != nil {
		t.Error(err)
	}
}

// A pod that is spawned in a turn that only plans only plans; one that an acting turn of a
// pod spawns acts, even where the pod's turns plan by default.
func TestSpawnedPodsInheritPlanMode(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case len(r.Results()) > 0:
			return scripted.Say(scripted.Text("done"))
		case strings.HasPrefix(r.LastUser(), "the task"):
			return scripted.Say(call("write_file", `{"path":"made","content":""}`))
		}
		return scripted.Say(call("spawn_pod", `{"task":"the task","write":["."]}`))
	})
	h.update(item.PodSpec{Dir: h.dir, SubPods: 1, Plan: true})
	h.run("plan it")
	if child := h.only(); !child.Spec.Plan || h.exists("made") {
		t.Errorf("the spawned pod is %+v", child.Spec)
	}
	h.ended(h.plans("act", false))
	if !h.exists("made") {
		t.Error("the pod that an acting turn spawned does not act")
	}
}
