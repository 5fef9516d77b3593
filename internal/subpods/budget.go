package subpods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// share is a part of what a turn may use.
type share struct {
	tokens int64
	cost   float64
	// spent says that its pod has ended: the share is what the pod used.
	spent bool
}

// budget records which shares of its turn's limits a pod has promised to its calls: from
// the start of each call until the log has what it used.
type budget struct {
	mu       sync.Mutex
	promised map[string]share
	// changed is closed and replaced when a promise changes.
	changed chan struct{}
}

func newBudget() *budget {
	return &budget{promised: make(map[string]share), changed: make(chan struct{})}
}

func (b *budget) notify() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// promise sets the share reserved for a call.
func (b *budget) promise(call string, s share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.promised[call] = s
	b.notify()
}

// settled removes the share of a call whose use the log has.
func (b *budget) settled(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.promised, call)
	b.notify()
}

// grant promises a call its share of the rest: what it requests if that much is left, or
// an equal part for each pod that may still be spawned. All shares together never exceed
// the rest. If nothing is left for the call but running pods may return a part of their
// shares, wait is closed when another try makes sense.
func (b *budget) grant(call string, left item.PodLimits, asked share, slots int) (granted share, wait <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var held share
	among := slots
	for _, s := range b.promised {
		if !s.spent {
			among--
		}
		held.tokens = item.Sum(held.tokens, s.tokens)
		held.cost += s.cost
	}
	tokens, ok := part(least(left.MaxTokens, left.TotalTokens), held.tokens, asked.tokens, int64(max(among, 1)))
	cost, enough := part(least(left.MaxCost, left.TotalCost), held.cost, asked.cost, float64(max(among, 1)))
	switch granted = (share{tokens: tokens, cost: cost}); {
	case ok && enough:
		b.promised[call] = granted
		return granted, nil, nil
	case among < slots:
		return share{}, b.changed, nil
	}
	return share{}, nil, errors.New("not run: the other sub-pods of this step used the rest of the limits")
}

// part is a share of the rest without the reserved part; 0 for what has no limit.
func part[N int64 | float64](left, held, asked, among N) (n N, ok bool) {
	if left == 0 {
		return asked, true
	}
	if left <= held {
		return 0, false
	}
	left -= held
	if asked > 0 {
		return min(asked, left), true
	}
	// A share of 0 would mean no limit.
	return cmp.Or(left/among, left), true
}

// least is the smaller of two limits, where 0 means no limit.
func least[N int | int64 | float64 | time.Duration](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// granted is a call's share of the rest of the turn, once it gets one.
func (s *spawner) granted(ctx context.Context, call *tool.Invocation, asked share) (left item.PodLimits, got share, err error) {
	for {
		if left, err = call.Meter.Left(); err != nil {
			return left, got, fmt.Errorf("not run: %w", err)
		}
		got, wait, err := s.budget.grant(call.CallID, left, asked, cap(s.slots))
		if err != nil || wait == nil {
			return left, got, err
		}
		call.Progress("waiting: running sub-pods reserve the rest of the limits\n")
		select {
		case <-wait:
		case <-ctx.Done():
			return left, got, context.Cause(ctx)
		}
	}
}

// limits are those of a new pod, within the rest of the turn.
func (s *spawner) limits(ctx context.Context, call *tool.Invocation, args arguments, own item.PodLimits) (item.PodLimits, error) {
	left, got, err := s.granted(ctx, call, share{tokens: args.MaxTokens, cost: args.MaxCost})
	if err != nil {
		return item.PodLimits{}, err
	}
	l := item.PodLimits{
		MaxSteps:     least(args.MaxSteps, left.MaxSteps),
		MaxToolCalls: left.MaxToolCalls,
		MaxParallel:  own.MaxParallel,
		MaxTurnTime:  least(time.Duration(args.MaxSeconds)*time.Second, left.MaxTurnTime),
		MaxTokens:    got.tokens,
		MaxCost:      got.cost,
	}
	// The limits on all turns of the parent apply to all turns of its children.
	if left.TotalTokens > 0 {
		l.TotalTokens = got.tokens
	}
	if left.TotalCost > 0 {
		l.TotalCost = got.cost
	}
	return l, nil
}

// backgroundLimits are those of a new pod in the background: the parent's, with a share of what all turns of the parent
// have left. The equal part is smaller by one than for a pod that a call waits for: the parent works on.
func (s *spawner) backgroundLimits(call *tool.Invocation, args arguments, own item.PodLimits) (item.PodLimits, error) {
	left, err := call.Meter.Left()
	if err != nil {
		return own, fmt.Errorf("not run: %w", err)
	}
	totals := item.PodLimits{TotalTokens: left.TotalTokens, TotalCost: left.TotalCost}
	got, wait, err := s.budget.grant(call.CallID, totals, share{tokens: args.MaxTokens, cost: args.MaxCost}, cap(s.slots)+1)
	if wait != nil {
		err = errors.New("not run: the other sub-pods of this step reserve the rest of the limits: call again in the next step")
	}
	if err != nil {
		return own, err
	}
	own.MaxSteps = least(args.MaxSteps, own.MaxSteps)
	own.MaxTurnTime = least(time.Duration(args.MaxSeconds)*time.Second, own.MaxTurnTime)
	own.MaxTokens, own.MaxCost = least(got.tokens, own.MaxTokens), least(got.cost, own.MaxCost)
	own.TotalTokens, own.TotalCost = 0, 0
	if left.TotalTokens > 0 {
		own.TotalTokens = got.tokens
	}
	if left.TotalCost > 0 {
		own.TotalCost = got.cost
	}
	return own, nil
}
