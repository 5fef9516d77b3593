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
	// spent says that its pod has ended: this is what it used.
	spent bool
}

// budget remembers what a pod's calls were promised of its turn's limits, from the start
// of each to the moment when what it used stands in the log.
type budget struct {
	mu       sync.Mutex
	promised map[string]share
	// changed is closed, and made anew, when a promise has changed.
	changed chan struct{}
}

func newBudget() *budget {
	return &budget{promised: make(map[string]share), changed: make(chan struct{})}
}

func (b *budget) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// promise sets what is held back for a call.
func (b *budget) promise(call string, s share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.promised[call] = s
	b.tell()
}

// settled is for a call whose use the log knows.
func (b *budget) settled(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.promised, call)
	b.tell()
}

// grant promises a call its share of what is left: what it asks for as far as that is
// there, or an equal part for each of the pods that may be at work and are not. All shares together are never more than
// what is left. When nothing is there for the call although pods at work may leave some of
// theirs, wait is closed when it may be tried again.
func (b *budget) grant(call string, left item.PodLimits, asked share, slots int) (granted share, wait <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var held share
	among := slots
	for _, s := range b.promised {
		if !s.spent {
			among--
		}
		held.tokens += s.tokens
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
	return share{}, nil, errors.New("not run: pods of this step have used all that was left of the limits")
}

// part is a share of what is left besides what is held; 0 of what has no limit.
func part[N int64 | float64](left, held, asked, among N) (n N, ok bool) {
	if left == 0 {
		return asked, true
	}
	if left -= held; left <= 0 {
		return 0, false
	}
	if asked > 0 {
		return min(asked, left), true
	}
	// A share of nothing would be no limit.
	return cmp.Or(left/among, left), true
}

// least is the smaller of two limits, where 0 is none.
func least[N int | int64 | float64 | time.Duration](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// granted is a share of what is left of the turn, once there is one.
func (s *spawner) granted(ctx context.Context, call *tool.Invocation, asked share) (left item.PodLimits, got share, err error) {
	for {
		if left, err = call.Meter.Left(); err != nil {
			return left, got, fmt.Errorf("not run: %w", err)
		}
		got, wait, err := s.budget.grant(call.CallID, left, asked, cap(s.slots))
		if err != nil || wait == nil {
			return left, got, err
		}
		call.Progress("waits: all that is left of the limits is promised to pods at work\n")
		select {
		case <-wait:
		case <-ctx.Done():
			return left, got, context.Cause(ctx)
		}
	}
}

// limits are those of a pod that is spawned now, within what is left of the turn.
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
	// What bounds all turns of the parent bounds all turns of its children.
	if left.TotalTokens > 0 {
		l.TotalTokens = got.tokens
	}
	if left.TotalCost > 0 {
		l.TotalCost = got.cost
	}
	return l, nil
}
