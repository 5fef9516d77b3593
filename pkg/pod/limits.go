package pod

import (
	"cmp"

	"podd/pkg/item"
	"podd/pkg/worker"
)

// limitsOf are a pod's own limits, and otherwise the host's.
func limitsOf(own item.PodLimits, host worker.Limits) worker.Limits {
	host.MaxSteps = cmp.Or(own.MaxSteps, host.MaxSteps)
	host.MaxToolCalls = cmp.Or(own.MaxToolCalls, host.MaxToolCalls)
	host.MaxParallel = cmp.Or(own.MaxParallel, host.MaxParallel)
	host.MaxTime = cmp.Or(own.MaxTurnTime, host.MaxTime)
	host.MaxTokens = cmp.Or(own.MaxTokens, host.MaxTokens)
	host.MaxCost = cmp.Or(own.MaxCost, host.MaxCost)
	host.TotalTokens = cmp.Or(own.TotalTokens, host.TotalTokens)
	host.TotalCost = cmp.Or(own.TotalCost, host.TotalCost)
	return host
}
