package worker

import (
	"context"
	"slices"

	"podd/pkg/item"
)

// ahead is a batch that is on its way to the disk while the turn goes on.
type ahead struct {
	// alone says that nothing joins the turn at its next step.
	alone bool
	// stored is closed once the batch is on disk, or can't be; then err says why.
	stored chan struct{}
	err    error
	// refused ends when the batch can't be stored.
	refused context.Context
	// then is what has to wait for the batch.
	then []func()
}

// commitAhead commits the results that end a step and lets the turn ask the model at
// once: the path of a step has one commit, that of its calls. The entries count for the
// next request from now on; whatever else is to come of them waits in settle.
func (t *run) commitAhead(ctx context.Context, b Batch, then func()) error {
	if err := t.settle(); err != nil {
		return err
	}
	b.Kinds = slices.Concat(t.bills(), t.withWarnings(b.Kinds))
	batch, err := t.log.Ahead(ctx, b)
	if err != nil {
		return &logError{err}
	}
	t.owed = nil
	t.fold(batch.Entries)
	a := &ahead{alone: !batch.Joins, stored: make(chan struct{}), then: []func(){then}}
	var refuse context.CancelFunc
	a.refused, refuse = context.WithCancel(context.WithoutCancel(ctx))
	t.ahead = a
	go func() { // settle waits for it.
		defer close(a.stored)
		if err := batch.Stored(); err != nil {
			a.err = &logError{err}
			refuse()
		}
	}()
	return nil
}

// settle waits until all that the turn has appended is on disk, which is no work. After an
// error it gives the same again: nothing more can be stored.
func (t *run) settle() error {
	a := t.ahead
	if a == nil {
		return nil
	}
	defer t.clock.rest()()
	<-a.stored
	if a.err != nil {
		return a.err
	}
	t.ahead = nil
	for _, work := range a.then {
		work()
	}
	return nil
}

// whenSettled does some work as soon as all that was appended is on disk.
func (t *run) whenSettled(work func()) {
	if t.ahead == nil {
		work()
		return
	}
	t.ahead.then = append(t.ahead.then, work)
}

// untilRefused is the context of a request that may carry what is not on disk yet: it
// ends when that can't be stored.
func (t *run) untilRefused(ctx context.Context) (context.Context, func()) {
	if t.ahead == nil {
		return ctx, func() {}
	}
	a := t.ahead
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.refused, func() { cancel(a.err) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// fold lets entries of the log count.
func (t *run) fold(entries []item.Entry) {
	for _, e := range entries {
		t.state.Add(e)
		t.progress.Add(e)
	}
	t.left.Store(t.remains())
}
