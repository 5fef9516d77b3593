package pod

import (
	"context"
	"slices"

	"podd/pkg/item"
)

// addRule adds a rule to the pod.
func (a *actor) addRule(ctx context.Context, rule item.Rule) error {
	spec := a.journal.rec.Spec
	if !slices.ContainsFunc(spec.Rules, rule.Equal) {
		spec.Rules = append(slices.Clip(spec.Rules), rule)
	}
	_, use, err := a.site.workspace.Follow(spec)
	if err != nil {
		return err
	}
	return a.journal.setSpec(ctx, spec, use)
}
