package pod

import (
	"context"
	"slices"
	"strings"
	"time"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// addRule adds a rule to the pod.
func (a *actor) addRule(ctx context.Context, rule item.Rule) error {
	spec := a.journal.rec.Spec
	if !slices.ContainsFunc(spec.Rules, rule.Equal) {
		rule.Added = a.journal.time()
		spec.Rules = append(slices.Clip(spec.Rules), rule)
	}
	return a.setRules(ctx, spec.Rules)
}

// setRules replaces the pod's rules, for the running turn too.
func (a *actor) setRules(ctx context.Context, rules []item.Rule) error {
	spec := a.journal.rec.Spec
	spec.Rules = rules
	_, use, err := a.site.workspace.Follow(spec)
	if err != nil {
		return err
	}
	return a.journal.setSpec(ctx, spec, use)
}

// dated is a spec whose rules say when they were added: now, unless the old spec has them.
func dated(spec, old item.PodSpec, now time.Time) item.PodSpec {
	spec.Rules = slices.Clone(spec.Rules)
	for i, rule := range spec.Rules {
		spec.Rules[i].Added = now
		if before := slices.IndexFunc(old.Rules, rule.Equal); before >= 0 {
			spec.Rules[i].Added = old.Rules[before].Added
		}
	}
	return spec
}

// RuleFor is the rule that an answer with Always to the question about a call would add.
func (h *Host) RuleFor(ctx context.Context, pod string, call item.Seq) (*item.Rule, error) {
	a, release, err := h.pods.acquire(ctx, pod)
	if err != nil {
		return nil, err
	}
	defer release()
	rule, err := a.mailbox.ruleFor(ctx, call)
	if err != nil || rule != nil {
		return rule, err
	}
	return nil, noQuestion(call, pod)
}

// minRuleID is how many digits name a rule at least.
const minRuleID = 6

// RemoveRule removes the rule of a pod whose id begins with id, and returns both. It applies to
// the next call.
func (h *Host) RemoveRule(ctx context.Context, idOrName, id string) (p item.Pod, removed item.Rule, err error) {
	if len(id) < minRuleID {
		return p, removed, item.Errorf(item.KindInvalid, "RULE_ID", "%q is not the id of a rule: give at least %d digits of it, as podctl rules shows them", id, minRuleID)
	}
	p, err = h.change(ctx, idOrName, func(a *actor) error {
		spec := a.journal.rec.Spec
		named := func(r item.Rule) bool { return strings.HasPrefix(r.ID(), strings.ToLower(id)) }
		at := slices.IndexFunc(spec.Rules, named)
		if at < 0 {
			return item.Errorf(item.KindNotFound, "RULE_NOT_FOUND", "pod %s has no rule %s: podctl rules %[1]s lists them", a.journal.rec.Name, id)
		}
		removed = spec.Rules[at]
		left := slices.DeleteFunc(slices.Clone(spec.Rules), removed.Equal)
		if slices.ContainsFunc(left, named) {
			return item.Errorf(item.KindPrecondition, "RULE_AMBIGUOUS", "several rules of pod %s begin with %s: give more digits, as podctl rules %[1]s -o json shows them", a.journal.rec.Name, id)
		}
		if err := a.setRules(ctx, left); err != nil {
			return err
		}
		a.journal.changed(hook.PodUpdated)
		return nil
	})
	return p, removed, err
}
