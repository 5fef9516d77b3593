package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// PodSpecToProto converts a spec; the result is never nil.
func PodSpecToProto(s item.PodSpec) *poddv1.PodSpec {
	return &poddv1.PodSpec{
		Dir:          clean(s.Dir),
		Model:        clean(s.Model),
		Endpoint:     clean(s.Endpoint),
		Options:      optionsToProto(s.Options),
		Instructions: clean(s.Instructions),
		Read:         cleanAll(s.Read),
		Write:        cleanAll(s.Write),
		Ask:          clean(s.Ask),
		Network:      clean(s.Network),
		Limits:       limitsToProto(s.Limits),
		Rules:        RulesToProto(s.Rules),
		SubPods:      toInt32(s.SubPods),
		Tools:        cleanAll(s.Tools),
		Parent:       clean(s.Parent),
		ParentCall:   clean(s.ParentCall),

		BaseInstructions: clean(s.BaseInstructions),
		Plan:             s.Plan,
		Checkout:         checkoutToProto(s.Checkout),
	}
}

// PodSpecFromProto converts a spec; nil is the zero spec.
func PodSpecFromProto(p *poddv1.PodSpec) item.PodSpec {
	return item.PodSpec{
		Dir:          p.GetDir(),
		Model:        p.GetModel(),
		Endpoint:     p.GetEndpoint(),
		Options:      optionsFromProto(p.GetOptions()),
		Instructions: p.GetInstructions(),
		Read:         p.GetRead(),
		Write:        p.GetWrite(),
		Ask:          p.GetAsk(),
		Network:      p.GetNetwork(),
		Limits:       limitsFromProto(p.GetLimits()),
		Rules:        rulesFromProto(p.GetRules()),
		SubPods:      int(p.GetSubPods()),
		Tools:        p.GetTools(),
		Parent:       p.GetParent(),
		ParentCall:   p.GetParentCall(),

		BaseInstructions: p.GetBaseInstructions(),
		Plan:             p.GetPlan(),
		Checkout:         checkoutFromProto(p.GetCheckout()),
	}
}

// checkoutToProto omits one that there is not.
func checkoutToProto(c item.Checkout) *poddv1.Checkout {
	if c == (item.Checkout{}) {
		return nil
	}
	return &poddv1.Checkout{Source: clean(c.Source), Branch: clean(c.Branch), Base: clean(c.Base)}
}

func checkoutFromProto(c *poddv1.Checkout) item.Checkout {
	return item.Checkout{Source: c.GetSource(), Branch: c.GetBranch(), Base: c.GetBase()}
}

// limitsToProto omits empty limits.
func limitsToProto(l item.PodLimits) *poddv1.Limits {
	if l == (item.PodLimits{}) {
		return nil
	}
	return &poddv1.Limits{
		MaxSteps:         toInt32(l.MaxSteps),
		MaxToolCalls:     toInt32(l.MaxToolCalls),
		MaxParallelCalls: toInt32(l.MaxParallel),
		MaxTurnTime:      durationToProto(l.MaxTurnTime),
		MaxTokens:        l.MaxTokens,
		MaxCost:          l.MaxCost,
		TotalTokens:      l.TotalTokens,
		TotalCost:        l.TotalCost,
	}
}

func limitsFromProto(p *poddv1.Limits) item.PodLimits {
	return item.PodLimits{
		MaxSteps:     int(p.GetMaxSteps()),
		MaxToolCalls: int(p.GetMaxToolCalls()),
		MaxParallel:  int(p.GetMaxParallelCalls()),
		MaxTurnTime:  p.GetMaxTurnTime().AsDuration(),
		MaxTokens:    p.GetMaxTokens(),
		MaxCost:      p.GetMaxCost(),
		TotalTokens:  p.GetTotalTokens(),
		TotalCost:    p.GetTotalCost(),
	}
}

// RulesToProto converts rules in their order.
func RulesToProto(rules []item.Rule) []*poddv1.Rule {
	var out []*poddv1.Rule
	for _, r := range rules {
		out = append(out, &poddv1.Rule{Tool: clean(r.Tool), Path: clean(r.Path), Command: clean(r.Command), Host: clean(r.Host), Access: accessToProto(r.Access), Decision: clean(r.Decision), Added: timeToProto(r.Added)})
	}
	return out
}

func rulesFromProto(rules []*poddv1.Rule) []item.Rule {
	var out []item.Rule
	for _, r := range rules {
		out = append(out, RuleFromProto(r))
	}
	return out
}

// RuleFromProto converts a rule.
func RuleFromProto(r *poddv1.Rule) item.Rule {
	return item.Rule{Tool: r.GetTool(), Path: r.GetPath(), Command: r.GetCommand(), Host: r.GetHost(), Access: accessFromProto(r.GetAccess()), Decision: r.GetDecision(), Added: timeFromProto(r.GetAdded())}
}

func accessToProto(levels []item.Access) []string {
	var out []string
	for _, level := range levels {
		out = append(out, clean(string(level)))
	}
	return out
}

func accessFromProto(levels []string) []item.Access {
	var out []item.Access
	for _, level := range levels {
		out = append(out, item.Access(level))
	}
	return out
}
