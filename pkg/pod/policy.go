package pod

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"podd/internal/policy"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// policyOf is what decides on the calls of a pod: its own mode and rules beside the
// operator's, and those of its workspace, which ask or deny.
func (s *settings) policyOf(spec item.PodSpec, workspace []policy.Rule) (*policy.Policy, error) {
	rules := slices.Concat(s.Rules, policy.PodRules(spec.Rules), workspace)
	return policy.New(cmp.Or(policy.Mode(spec.Ask), s.Ask), rules)
}

// rule is the pod's policy as its turns ask it. A rule that is added while a turn runs
// counts from then on.
func (a *actor) rule(name string, access tool.Access) worker.Ruling {
	rules, err := a.rulesNow()
	if err != nil {
		return worker.Ruling{Deny: fmt.Sprintf("podd cannot tell whether this is allowed: %v", err)}
	}
	switch v := rules.Decide(rules.call(name, access)); v.Decision {
	case policy.Allow:
		return worker.Ruling{}
	case policy.Ask:
		return worker.Ruling{Ask: v.Why}
	default:
		return worker.Ruling{Deny: v.Why}
	}
}

// addRule adds the rule to the pod that lets such calls run unasked.
func (a *actor) addRule(ctx context.Context, q *question) (*item.Rule, error) {
	tools, err := a.toolsKnown(ctx)
	if err != nil {
		return nil, err
	}
	t, known := tools.Lookup(q.Tool)
	if !known {
		return nil, item.Errorf(item.KindPrecondition, "NO_RULE", "the pod has no tool %q any more: no rule can be made for it", q.Tool)
	}
	made, err := policy.RuleFor(a.rules.Load().call(q.Tool, t.Access(q.Arguments)))
	if err != nil {
		return nil, err
	}
	rule, spec := made.Item(), a.rec.Spec
	if !slices.Contains(spec.Rules, rule) {
		spec.Rules = append(slices.Clip(spec.Rules), rule)
	}
	return &rule, a.setSpec(ctx, spec)
}

// toolsKnown are the pod's own tools and those of other programs, of which none is
// started.
func (a *actor) toolsKnown(ctx context.Context) (*tool.Registry, error) {
	work, err := a.workspace(a.host.settings())
	if err != nil {
		return nil, err
	}
	more := slices.Clone(work.skill)
	if foreign := a.project.Tools; foreign != nil {
		more = append(more, foreign(ctx, false)...)
	}
	return work.own.with(more)
}

// setSpec stores a spec that is right and follows it from now on.
func (a *actor) setSpec(ctx context.Context, spec item.PodSpec) error {
	rules, err := a.host.rulesOf(ctx, spec, a.project.Rules)
	if err != nil {
		return err
	}
	if err := a.host.Store.UpdateSpec(ctx, a.id, spec); err != nil {
		return err
	}
	a.rec.Spec = spec
	a.rules.Store(rules)
	return nil
}
