package worker

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// meter counts for the turn, for the tool of one call.
type meter struct {
	j    *journal
	idle *idleCalls
	call *call

	mu      sync.Mutex
	waiting bool
	billed  []item.RequestUsage
}

// Left is what the turn could still use when the last entry was stored.
func (m *meter) Left() (item.PodLimits, error) {
	left := m.j.left.Load()
	if left == nil {
		return item.PodLimits{}, errors.New("the turn has not begun")
	}
	return left.PodLimits, left.spent
}

// Bill keeps the record for the entries of the call's result.
func (m *meter) Bill(u item.RequestUsage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u.Step = m.j.step
	m.billed = append(m.billed, u)
}

// Waits stops and starts the turn's clock.
func (m *meter) Waits(waiting bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == waiting {
		return
	}
	m.waiting = waiting
	m.idle.changed(waiting)
}

// settle is the end of the tool's work.
func (m *meter) settle() {
	m.Waits(false)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.call.billed = m.billed
}

// idleCalls counts the running calls whose tools only wait.
type idleCalls struct {
	n atomic.Int32
	// poke gets a token when n has changed.
	poke chan struct{}
}

func (i *idleCalls) changed(waiting bool) {
	if waiting {
		i.n.Add(1)
	} else {
		i.n.Add(-1)
	}
	select {
	case i.poke <- struct{}{}:
	default:
	}
}

// leftover is what a turn may still use; spent says why nothing is left.
type leftover struct {
	item.PodLimits
	spent error
}

// remains is what the turn may still use now. Only the turn's goroutine calls it.
func (t *journal) remains(ctx context.Context) *leftover {
	p, total, l := t.now.Turn, t.now.Total, t.w.Limits
	out := leftover{PodLimits: item.PodLimits{
		MaxSteps:     l.MaxSteps - p.Step,
		MaxToolCalls: l.MaxToolCalls - p.ToolCalls,
		MaxParallel:  l.MaxParallel,
		MaxTurnTime:  t.clock.remains(),
	}}
	if l.MaxTokens > 0 {
		out.MaxTokens = l.MaxTokens - p.Spent.Tokens()
	}
	if l.MaxCost > 0 {
		out.MaxCost = l.MaxCost - p.Spent.Cost
	}
	reserved, err := t.w.reserved(ctx)
	if l.TotalTokens > 0 {
		out.TotalTokens = l.TotalTokens - item.Sum(total.Tokens(), reserved.Tokens)
	}
	if l.TotalCost > 0 {
		out.TotalCost = l.TotalCost - total.Cost - reserved.Cost
	}
	if out.spent = cmp.Or(err, t.withinLimits(reserved)); out.spent == nil && (out.MaxToolCalls <= 0 || out.MaxTurnTime <= 0) {
		out.spent = errors.New("the turn has no tool calls or no time left")
	}
	return &out
}

var _ tool.Meter = (*meter)(nil)
