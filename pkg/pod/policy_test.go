package pod_test

import (
	"context"
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// unsandboxed is a host whose commands are not confined.
func unsandboxed(c *options) { c.Shell.Confined = false }

// asked waits until the given number of calls wait for a person.
func (h *house) asked(n int) []pod.Approval {
	h.t.Helper()
	for {
		waiting, err := h.host.Approvals(h.t.Context(), "")
		if err != nil {
			h.t.Fatal(err)
		}
		if len(waiting) == n {
			return waiting
		}
	}
}

func (h *house) resolve(r pod.Resolution) *item.Rule {
	h.t.Helper()
	r.Pod = "p"
	rule, err := h.host.Resolve(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return rule
}

// A command without a sandbox asks. After "always" the same command does not ask again,
// and another one does.
func TestAlways(t *testing.T) {
	h := newHouse(t, steps(
		scripted.Say(shell("echo x >> ran")), scripted.Say(shell("touch ran2")), scripted.Say(shell("touch ran2")),
	), unsandboxed)
	s := h.submit("go")
	first := h.asked(1)[0]
	if first.Tool != "shell" || !strings.Contains(first.Arguments, "echo x >> ran") || first.PodName != "p" || h.exists("ran") {
		t.Errorf("asked %+v", first)
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateWaiting {
		t.Errorf("pod %+v, %v", p.Status, err)
	}
	_, err := h.host.Resolve(t.Context(), pod.Resolution{Pod: "p", CallSeq: first.CallSeq, Approve: true, Always: true})
	wantError(t, err, item.KindPrecondition, "NO_RULE")
	h.resolve(pod.Resolution{CallSeq: first.CallSeq, Approve: true, Digest: first.Digest})
	second := h.asked(1)[0]
	if rule := h.resolve(pod.Resolution{CallSeq: second.CallSeq, Approve: true, Always: true}); rule == nil || rule.Command != "touch ran2" {
		t.Errorf("rule %+v", rule)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || h.read("ran") != "x\n" {
		t.Errorf("end %+v, ran %q", end, h.read("ran"))
	}
	h.restart()
	if p, err := h.host.Get(t.Context(), "p"); err != nil || len(p.Spec.Rules) != 1 {
		t.Errorf("rules %+v, %v", p.Spec.Rules, err)
	}
}

// What the operator denies is denied, whatever the pod allows; the model reads why.
func TestDenied(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), unsandboxed, func(c *options) {
		c.Rules = []item.Rule{{Command: "touch *", Decision: policy.Deny, Source: "config.toml:3"}}
	})
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.Rules = []item.Rule{{Tool: "shell", Decision: "allow"}}
	if _, err := h.host.Update(t.Context(), "p", to(p.Spec)); err != nil {
		t.Fatal(err)
	}
	h.run("go")
	if r := results(h.log()); len(r) != 1 || !r[0].IsError || !strings.Contains(r[0].Summary, "config.toml:3") || h.exists("ran") {
		t.Errorf("results %+v", r)
	}
}

// A mode that never asks denies what would ask, and says how to allow it.
func TestNever(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(shell("touch ran"))), unsandboxed, func(c *options) { c.Ask = policy.Never })
	h.run("go")
	if r := results(h.log()); len(r) != 1 || !r[0].IsError || !strings.Contains(r[0].Summary, "never") || h.exists("ran") {
		t.Errorf("results %+v", r)
	}
}

// A file that other programs execute changes only with a person's approval, in any mode
// and whatever rules allow.
func TestProtectedFile(t *testing.T) {
	write := scripted.Call{Name: "write_file", Arguments: `{"path":".git/hooks/pre-commit","content":"#!/bin/sh\n"}`}
	h := newHouse(t, steps(scripted.Say(write), scripted.Say(write)), func(c *options) {
		c.Rules = []item.Rule{{Tool: "write_file", Decision: policy.Allow}}
	})
	s := h.submit("go")
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Reason: "no hooks", By: "ann"})
	h.resolve(pod.Resolution{CallSeq: h.asked(1)[0].CallSeq, Approve: true})
	h.ended(s)
	r := results(h.log())
	if len(r) != 2 || !r[0].IsError || !strings.Contains(r[0].Summary, "denied by ann: no hooks") || r[1].IsError || !h.exists(".git/hooks/pre-commit") {
		t.Errorf("results %+v", r)
	}
}

func TestBadSpec(t *testing.T) {
	h := newHouse(t, steps())
	for _, spec := range []item.PodSpec{
		{Dir: h.dir, Ask: "sometimes"},
		{Dir: h.dir, Rules: []item.Rule{{Decision: "allow"}}},
		{Dir: h.dir, Rules: []item.Rule{{Tool: "shell", Command: "sudo *", Decision: "allow"}}},
	} {
		if _, err := h.host.Create(t.Context(), "q", spec); item.KindOf(err) != item.KindInvalid {
			t.Errorf("%+v: %v", spec, err)
		}
		if _, err := h.host.Update(t.Context(), "p", to(spec)); item.KindOf(err) != item.KindInvalid {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// A rule can be made for a call of another program's tool even if the settings changed
// while the call waited.
func TestAlwaysAfterReload(t *testing.T) {
	h := newHouse(t, steps(scripted.Say(scripted.Call{ID: "f1", Name: "foreign", Arguments: `{}`})), func(c *options) {
		c.Project = func(string) workspace.Project {
			return workspace.Project{Tools: func(context.Context, bool) []tool.Tool {
				return []tool.Tool{tool.New("foreign", "Of another program.",
					func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
						return tool.FromString("done"), nil
					},
					tool.Touches(func(struct{}) tool.Access { return tool.Access{Command: "play chess"} }))}
			}}
		}
	})
	s := h.submit("go")
	asked := h.asked(1)[0]
	h.reload(func(s *options) { s.Instructions = "Be brief." })
	if rule := h.resolve(pod.Resolution{CallSeq: asked.CallSeq, Approve: true, Always: true}); rule == nil || rule.Tool != "foreign" || rule.Command != "play chess" {
		t.Errorf("rule %+v", rule)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("end %+v", end)
	}
}

// Duplicate tool names of other programs, or names of the pod's own tools, keep no turn
// from running.
func TestForeignNamesThatAreTaken(t *testing.T) {
	made := func(name, says string) tool.Tool {
		return tool.New(name, "Of another program.", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
			return tool.FromString(says), nil
		})
	}
	h := newHouse(t, steps(scripted.Say(scripted.Call{ID: "f1", Name: "foreign", Arguments: `{}`})), func(c *options) {
		c.Rules = []item.Rule{{Tool: "foreign", Decision: policy.Allow, Source: "config.toml:1"}}
		c.Project = func(string) workspace.Project {
			return workspace.Project{Tools: func(context.Context, bool) []tool.Tool {
				return []tool.Tool{made("foreign", "the first"), made("foreign", "the second"), made("shell", "never"), made(pod.SpawnTool, "never")}
			}}
		}
	})
	if end := h.run("go"); end.Outcome != item.OutcomeFinished || !strings.Contains(h.body(2), "the first") {
		t.Errorf("end %+v, request %s", end, h.body(2))
	}
}
