package pod

import (
	"context"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Compact replaces the older items of an idle pod by the model's summary, and returns the
// sequence of the compaction's entry. Submits that come meanwhile wait.
func (h *Host) Compact(ctx context.Context, idOrName string) (item.Seq, error) {
	set := h.settings()
	var seq item.Seq
	err := h.alone(ctx, idOrName, (*actor).mayCompact, func(ctx context.Context, p *Idle) (err error) {
		seq, err = p.compact(ctx, set)
		return clientError(err)
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}

func (p *Idle) compact(ctx context.Context, set *settings) (seq item.Seq, err error) {
	w, err := p.a.prepare(ctx, p.under, set)
	if err != nil {
		return 0, err
	}
	log := &turnLog{p.a, 0}
	if err := w.Compact(ctx, log, p.under.now); err != nil {
		return 0, err
	}
	err = log.Look(func(s *fold.Context) { seq = s.Compacted() })
	return seq, err
}

// mayCompact refuses to compact a pod at work; background commands do not matter.
func (a *actor) mayCompact() error {
	return a.runs("compact it")
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
