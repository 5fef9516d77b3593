package main

import (
	"fmt"
	"strings"

	"podd/internal/clients/view"
	"podd/pkg/item"
)

// turnLimits are the limits of one turn that the pod's spec sets; "" when podd's defaults
// apply.
func turnLimits(l item.PodLimits) string {
	var list []string
	add := func(set bool, text string) {
		if set {
			list = append(list, text)
		}
	}
	add(l.MaxSteps > 0, plural(l.MaxSteps, "step"))
	add(l.MaxToolCalls > 0, plural(l.MaxToolCalls, "tool call"))
	add(l.MaxParallel > 0, fmt.Sprintf("%d at once", l.MaxParallel))
	add(l.MaxTurnTime > 0, view.Duration(l.MaxTurnTime))
	add(l.MaxTokens > 0, view.Count(l.MaxTokens)+" tokens")
	add(l.MaxCost > 0, usd(l.MaxCost))
	return strings.Join(list, ", ")
}

// budget is what all turns of a pod may use together; "" without a limit.
func budget(l item.PodLimits) string {
	var list []string
	if l.TotalCost > 0 {
		list = append(list, usd(l.TotalCost))
	}
	if l.TotalTokens > 0 {
		list = append(list, view.Count(l.TotalTokens)+" tokens")
	}
	return strings.Join(list, ", ")
}

// usd is an amount of money, with cents at least.
func usd(amount float64) string {
	text := fmt.Sprintf("%.4f", amount)
	for range 2 {
		text = strings.TrimSuffix(text, "0")
	}
	return "$" + text
}

func rules(list []item.Rule) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = view.Rule(r)
	}
	return strings.Join(words, "; ")
}

func subPods(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("up to %d at once", n)
}
