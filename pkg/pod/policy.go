package pod

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"podd/internal/guard/policy"
	"podd/internal/workspace/skills"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// policyOf is what decides on the calls of a pod: its own mode and rules beside the
// operator's, and those of its workspace, which ask or deny.
func (s *settings) policyOf(spec item.PodSpec, workspace []item.Rule) (*policy.Policy, error) {
	rules := slices.Concat(s.Rules, policy.PodRules(spec.Rules), workspace)
	return policy.New(cmp.Or(spec.Ask, s.Ask), rules)
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

// ruleFor is the rule that lets such calls run unasked as the one that asks; nil when that
// does not ask any more. The tools are the pod's own and those of other programs, of which
// none is started.
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
	return visit(ctx, a, func(p place) (*item.Rule, error) {
		own, err := a.host.tools(a.host.settings(), p.rec, p.work)
		if err != nil {
			return nil, err
		}
		more := (&ground{skills: skills.Find(toldBy(a, p.work.fs), p.work.skillsDir)}).skill()
		if foreign := p.project.Tools; foreign != nil {
			more = append(more, foreign(ctx, false)...)
		}
		tools, err := own.with(more)
		if err != nil {
			return nil, err
		}
		t, known := tools.Lookup(asked.Tool)
		if !known {
			return nil, item.Errorf(item.KindPrecondition, "NO_RULE", "the pod has no tool %q any more: no rule can be made for it", asked.Tool)
		}
		access := t.Access(asked.Arguments)
		var executes []worker.Executed
		if access.Command != "" {
			executes = executed(p.work.fs)(access.Command)
		}
		if asked.Digest != worker.Digest(p.rec.Spec.Dir, asked.Tool, asked.Arguments, access.Targets, executes) {
			return nil, item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
				"the call is not what was asked about any more, so no rule is made of it: approve it alone, and it asks again")
		}
		made, err := policy.RuleFor(a.rules.Load().call(asked.Tool, access))
		if err != nil {
			return nil, err
		}
		return &made, nil
	})
}

// addRule adds a rule to the pod.
func (a *actor) addRule(ctx context.Context, rule item.Rule) error {
	spec := a.rec.Spec
	if !slices.Contains(spec.Rules, rule) {
		spec.Rules = append(slices.Clip(spec.Rules), rule)
	}
	return a.setSpec(ctx, spec)
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
