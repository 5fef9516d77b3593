package interceptor_test

import (
	"context"
	"slices"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// warns decides and warns at every edge.
type warns struct {
	interceptor.Base
	name string
}

func (w warns) Name() string { return w.name }

func (w warns) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	return s.Cancel("no").Warn("broken")
}

func (w warns) BeforeRequest(_ context.Context, r interceptor.Request) interceptor.RequestVerdict {
	return r.Continue().Warn("broken")
}

func (w warns) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	if c.Arguments == "a" {
		return c.Rewrite("b").Warn("broken")
	}
	return c.Deny("no").Warn("broken")
}

func (w warns) AfterTool(_ context.Context, r interceptor.Result) interceptor.ResultVerdict {
	return r.Replace(item.Output{Summary: "x"}).Warn("broken")
}

func (w warns) TurnEnd(_ context.Context, t interceptor.Turn) interceptor.TurnVerdict {
	return t.Pause("look").Warn("broken")
}

// A warning comes with the verdict: it names the interceptor, does not change the
// decision, and is there once however often the chain starts again.
func TestWarnings(t *testing.T) {
	chain := interceptor.Chain{warns{name: "a"}, warns{name: "b"}}
	both, one := []string{"a: broken", "b: broken"}, []string{"a: broken"}
	s, err := chain.PromptSubmit(t.Context(), interceptor.Submit{})
	if err != nil || s.Cancelled == "" || !slices.Equal(s.Warnings, one) {
		t.Errorf("submit: %+v, %v", s, err)
	}
	r, err := chain.BeforeRequest(t.Context(), interceptor.Request{})
	if err != nil || r.Cancelled != "" || !slices.Equal(r.Warnings, both) {
		t.Errorf("request: %+v, %v", r, err)
	}
	c, err := chain.BeforeTool(t.Context(), interceptor.Call{Arguments: "a"}, trim)
	if err != nil || c.Denied != "denied by a: no" || !slices.Equal(c.Warnings, one) {
		t.Errorf("call: %+v, %v", c, err)
	}
	a, err := chain.AfterTool(t.Context(), interceptor.Result{})
	if err != nil || a.Output.Summary != "x" || !slices.Equal(a.Warnings, []string{"b: broken", "a: broken"}) {
		t.Errorf("result: %+v, %v", a, err)
	}
	e, err := chain.TurnEnd(t.Context(), interceptor.Turn{})
	if err != nil || e.Paused != "a paused the pod: look" || !slices.Equal(e.Warnings, both) {
		t.Errorf("turn: %+v, %v", e, err)
	}
}
