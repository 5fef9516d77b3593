package pod

import (
	"context"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// ruleFor is the rule that lets such calls run unasked as the one that asks; nil when that
// does not ask any more.
func (a *actor) ruleFor(ctx context.Context, call item.Seq) (*item.Rule, error) {
	var asked *fold.Question
	err := a.do(ctx, func() {
		if q := a.state.Turn.QuestionAt(call); q != nil && q.IsOpen() {
			asked = q
		}
	})
	if err != nil || asked == nil {
		return nil, err
	}
	return visit(ctx, a, func(ctx context.Context) (*item.Rule, error) {
		return a.workspace.RuleFor(ctx, asked.ApprovalRequested)
	})
}

// addRule adds a rule to the pod.
func (a *actor) addRule(ctx context.Context, rule item.Rule) error {
	spec := a.rec.Spec
	if !slices.Contains(spec.Rules, rule) {
		spec.Rules = append(slices.Clip(spec.Rules), rule)
	}
	_, use, err := a.workspace.Follow(spec)
	if err != nil {
		return err
	}
	return a.setSpec(ctx, spec, use)
}

// setSpec stores a spec that is right and follows it from now on.
func (a *actor) setSpec(ctx context.Context, spec item.PodSpec, use func()) error {
	if err := a.host.Store.UpdateSpec(ctx, a.id, spec); err != nil {
		return err
	}
	a.rec.Spec = spec
	use()
	return nil
}
