package pod_test

import (
	"fmt"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// A short id of two rules removes none; equal rules go together.
func TestRemoveRule(t *testing.T) {
	h := newHouse(t, scripted.Answers())
	one, other := sameBeginning()
	p, err := h.host.Update(t.Context(), "p", func(spec item.PodSpec) (item.PodSpec, error) {
		spec.Rules = []item.Rule{one, other, one}
		return spec, nil
	})
	if err != nil || p.Spec.Rules[0].Added.IsZero() {
		t.Fatalf("rules %+v, %v", p.Spec.Rules, err)
	}
	_, _, err = h.host.RemoveRule(t.Context(), "p", one.ID()[:6])
	wantError(t, err, item.KindPrecondition, "RULE_AMBIGUOUS")
	if _, _, err = h.host.RemoveRule(t.Context(), "p", one.ID()); err != nil {
		t.Fatal(err)
	}
	p, err = h.host.Get(t.Context(), "p")
	if left := p.Spec.Rules; err != nil || len(left) != 1 || !left[0].Equal(other) {
		t.Fatalf("left %+v, %v", left, err)
	}
	_, _, err = h.host.RemoveRule(t.Context(), "p", one.ID())
	wantError(t, err, item.KindNotFound, "RULE_NOT_FOUND")
}

// sameBeginning are two rules whose ids begin with the same six digits.
func sameBeginning() (one, other item.Rule) {
	known := make(map[string]item.Rule)
	for n := 0; ; n++ {
		r := item.Rule{Tool: "shell", Command: fmt.Sprintf("run %d", n), Decision: "deny"}
		if one, ok := known[r.ID()[:6]]; ok {
			return one, r
		}
		known[r.ID()[:6]] = r
	}
}
