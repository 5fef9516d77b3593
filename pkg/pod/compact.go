package pod

import (
	"context"
	"errors"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Compact replaces the older items of an idle pod by the model's summary, and returns the
// sequence of the compaction's entry. Submits that come meanwhile wait.
func (h *Host) Compact(ctx context.Context, idOrName string) (item.Seq, error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := a.mailbox.waitForLast(ctx); err != nil {
		return 0, err
	}
	c := compaction{err: errors.New("podd met a defect of its own")}
	var ended <-chan struct{}
	doErr := a.mailbox.do(ctx, func() { ended, err = a.startCompaction(&c) })
	if doErr != nil {
		return 0, doErr
	}
	if err != nil {
		return 0, err
	}
	select {
	case <-ended:
		return c.seq, clientError(c.err)
	case <-ctx.Done():
		// It continues: a client that is gone does not cancel.
		return 0, context.Cause(ctx)
	}
}

// compaction is the result of a compaction.
type compaction struct {
	// seq is its entry.
	seq item.Seq
	err error
}

// clientError is the error that a client gets for a failed compaction.
func clientError(err error) error {
	if err == nil || item.KindOf(err) != item.KindInternal {
		return err
	}
	e := item.Errorf(item.KindPrecondition, "COMPACTION_FAILED", "cannot compact the pod: %v", err)
	e.Cause = err
	return e
}

// startCompaction runs a compaction like a turn: nothing else runs meanwhile. c has the
// result once ended is closed; then the pod is idle, or a waiting turn has begun.
func (a *actor) startCompaction(c *compaction) (ended <-chan struct{}, err error) {
	if a.closing != nil {
		return nil, a.closing
	}
	if a.turns.now != nil || a.journal.state.Turn.Open {
		return nil, item.Errorf(item.KindPrecondition, "BUSY", "the pod is running a turn: wait for its end or cancel it, then compact")
	}
	set := a.host.settings()
	a.start(0, func(ctx context.Context, under *turn) error {
		w, err := a.prepare(ctx, under, set)
		if err != nil {
			c.err = err
			return nil
		}
		log := &turnLog{a, 0}
		if c.err = w.Compact(ctx, log, under.now); c.err == nil {
			c.err = log.Look(func(s *fold.Context) { c.seq = s.Compacted() })
		}
		return nil
	})
	return a.turns.now.ended, nil
}
