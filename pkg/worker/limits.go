package worker

import (
	"cmp"
	"context"
	"errors"
	"time"

	"podd/pkg/item"
)

// Limits bound one turn. A zero field means its default.
type Limits struct {
	// MaxSteps is the maximum number of model requests; default 200.
	MaxSteps int
	// MaxToolCalls is the maximum number of tool calls; default 1,000.
	MaxToolCalls int
	// MaxTime bounds how long a turn may work; default two hours. Waiting for a person, a
	// quota or the network does not count, and a turn that resumes after a restart starts
	// again from zero.
	MaxTime time.Duration
	// MaxParallel is how many tools run at once; default 8.
	MaxParallel int
	// MaxGoOns is how often interceptors may keep a turn from finishing; default
	// 10.
	MaxGoOns int
	// LoopTimes is in how many of the last LoopSteps steps the same call may give the same
	// result before the model gets a note; at twice as many, of twice the steps, the turn
	// ends. Default 5 and 10; LoopTimes below 0 means no limit, LoopSteps is at most half of
	// fold.MaxLoopSteps.
	LoopTimes, LoopSteps int
	// MaxTokens (in and out together) and MaxCost (USD) bound what the turn may use; 0 means
	// no limit. They are checked between steps.
	MaxTokens int64
	MaxCost   float64
	// TotalTokens and TotalCost bound all turns of the pod together; 0 means no limit.
	TotalTokens int64
	TotalCost   float64
}

// Reserved is a part of what all turns of a pod may use that others use: it is not left for the pod.
type Reserved struct {
	Tokens int64
	Cost   float64
}

// reserved is what is reserved now.
func (w *Worker) reserved(ctx context.Context) (Reserved, error) {
	if w.Reserved == nil || w.Limits.TotalTokens == 0 && w.Limits.TotalCost == 0 {
		return Reserved{}, nil
	}
	return w.Reserved(ctx)
}

func (l Limits) withDefaults() Limits {
	l.MaxSteps = cmp.Or(l.MaxSteps, 200)
	l.MaxToolCalls = cmp.Or(l.MaxToolCalls, 1000)
	l.MaxTime = cmp.Or(l.MaxTime, 2*time.Hour)
	l.MaxParallel = cmp.Or(l.MaxParallel, 8)
	l.MaxGoOns = cmp.Or(l.MaxGoOns, 10)
	l.LoopTimes, l.LoopSteps = cmp.Or(l.LoopTimes, 5), cmp.Or(l.LoopSteps, 10)
	return l
}

var errTurnTime = errors.New("turn time")

// withinLimits says which limit the next step would break.
func (t *journal) withinLimits(reserved Reserved) error {
	p, total, l := t.now.Turn, t.now.Total, t.w.Limits
	switch {
	case p.Step >= l.MaxSteps:
		return limit("MAX_STEPS", "the turn reached its limit of %d model requests; submit again to continue", l.MaxSteps)
	case l.MaxTokens > 0 && p.Spent.Tokens() >= l.MaxTokens:
		return limit("MAX_TOKENS", "the turn used %d tokens; its limit is %d: submit again to continue", p.Spent.Tokens(), l.MaxTokens)
	case l.TotalTokens > 0 && total.Tokens() >= l.TotalTokens:
		return limit("TOTAL_TOKENS", "the pod used %d tokens; its limit is %d: raise it to continue", total.Tokens(), l.TotalTokens)
	case l.TotalTokens > 0 && item.Sum(total.Tokens(), reserved.Tokens) >= l.TotalTokens:
		return limit("TOTAL_TOKENS", "the pod used %d tokens and keeps %d for sub-pods; its limit is %d: raise it, or wait for them", total.Tokens(), reserved.Tokens, l.TotalTokens)
	}
	if err := t.inLoop(); err != nil {
		return err
	}
	if l.MaxCost <= 0 && l.TotalCost <= 0 {
		return nil
	}
	switch {
	case p.Spent.Unpriced > 0 || l.TotalCost > 0 && total.Unpriced > 0:
		return failed("NO_PRICE", "a cost limit needs the model's price: set [prices.MODEL] in config.toml, or remove the limit")
	case l.MaxCost > 0 && p.Spent.Cost >= l.MaxCost:
		return limit("MAX_COST", "the turn cost $%.4f; its limit is $%.4f: submit again to continue", p.Spent.Cost, l.MaxCost)
	case l.TotalCost > 0 && total.Cost >= l.TotalCost:
		return limit("TOTAL_COST", "the pod cost $%.4f; its limit is $%.4f: raise it to continue", total.Cost, l.TotalCost)
	case l.TotalCost > 0 && total.Cost+reserved.Cost >= l.TotalCost:
		return limit("TOTAL_COST", "the pod cost $%.4f and keeps $%.4f for sub-pods; its limit is $%.4f: raise it, or wait for them", total.Cost, reserved.Cost, l.TotalCost)
	}
	return nil
}
