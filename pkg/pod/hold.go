package pod

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// gate is where a running turn stops while its pod is paused. It belongs to the pod's
// goroutine; turns wait for open.
type gate struct {
	// open is closed when the pause ends.
	open chan struct{}
	// lifted is the last pause, until the turn has got it.
	lifted *item.Pause
}

// Pause pauses a pod: a running turn stops at its next step, and no other begins. The
// pause survives restarts, until Resume. Reason is shown in the pod's state.
func (h *Host) Pause(ctx context.Context, idOrName, reason string) (item.Pod, error) {
	return h.change(ctx, idOrName, func(a *actor) error {
		if p := a.journal.situation.pause; p != nil && !p.ByItself() {
			return nil
		}
		return a.holdFor(ctx, item.Pause{Reason: cmp.Or(reason, "paused by a client")})
	})
}

// Resume resumes a paused pod. One whose last turn was interrupted gets a new turn that
// continues the work; any other does not change. Of a pod that podd paused when it started, the sub-pods that it
// paused go on too.
func (h *Host) Resume(ctx context.Context, idOrName string) (item.Pod, error) {
	family := false
	p, err := h.change(ctx, idOrName, func(a *actor) error {
		if pause := a.journal.situation.pause; pause != nil {
			family = pause.FromStart()
			return a.lift(ctx, true)
		}
		if a.journal.rec.Status.State != item.StateInterrupted {
			return nil
		}
		_, err := a.note(ctx, item.Note{Text: "The last turn was interrupted: " + a.journal.state.Turn.Cause + ". Continue it.", Wake: true})
		return err
	})
	if err == nil && family {
		err = h.resumeBelow(ctx, p.ID)
	}
	return p, err
}

// resumeBelow resumes the sub-pods of a pod that podd paused when it started, all the way down.
func (h *Host) resumeBelow(ctx context.Context, id string) error {
	below, err := h.Family.Children(ctx, id)
	for _, child := range below {
		if child.Status.Pause.FromStart() {
			_, resumeErr := h.Resume(ctx, child.ID)
			err = errors.Join(err, resumeErr)
		} else {
			err = errors.Join(err, h.resumeBelow(ctx, child.ID))
		}
	}
	return err
}

// change runs f in a pod's goroutine and returns the pod after it.
func (h *Host) change(ctx context.Context, idOrName string, f func(*actor) error) (item.Pod, error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	defer release()
	if err := a.mailbox.waitForLast(ctx); err != nil {
		return item.Pod{}, err
	}
	doErr := a.mailbox.do(ctx, func() {
		if err = a.closing; err == nil {
			err = f(a)
		}
	})
	if doErr != nil {
		return item.Pod{}, doErr
	}
	if err != nil {
		return item.Pod{}, err
	}
	return h.Get(ctx, a.id)
}

func (a *actor) note(ctx context.Context, note item.Note) (item.Seq, error) {
	return a.record(ctx, item.Entry{Kind: note})
}

// record stores entries from outside the turn, and returns the sequence of the first one.
func (a *actor) record(ctx context.Context, entries ...item.Entry) (item.Seq, error) {
	_, entries, err := a.journal.commit(ctx, store.Batch{Entries: entries})
	if err != nil {
		return 0, err
	}
	a.next()
	return entries[0].Seq, nil
}

// holdFor stores a pause. It may replace one that ends by itself.
func (a *actor) holdFor(ctx context.Context, p item.Pause) error {
	s := a.journal.situation
	replaces := s.pause != nil
	s.pause, s.held = &p, s.held && replaces
	if err := a.journal.situate(ctx, s); err != nil {
		return err
	}
	if !replaces {
		a.gate.open = make(chan struct{})
	}
	a.journal.changed(hook.PodPaused)
	return nil
}

// lift ends the pause, because a person did or it ends by itself.
func (a *actor) lift(ctx context.Context, person bool) error {
	s := a.journal.situation
	lifted := s.pause
	s.pause, s.held = nil, false
	if person && lifted.ByItself() {
		s.lifted = append(slices.Clip(s.lifted), *lifted)
	}
	if err := a.journal.situate(ctx, s); err != nil {
		return err
	}
	if person {
		a.gate.lifted = lifted
	}
	close(a.gate.open)
	a.journal.changed(hook.PodResumed)
	a.next()
	return nil
}

// Hold pauses the pod for an interceptor.
func (l *turnLog) Hold(ctx context.Context, p item.Pause) error {
	return l.write(ctx, true, func(ctx context.Context) error {
		if l.a.journal.situation.pause != nil {
			return nil
		}
		return l.a.holdFor(ctx, p)
	})
}

// Release ends a pause that ends by itself, if it is still that of this interceptor.
func (l *turnLog) Release(ctx context.Context, by string) error {
	return l.write(ctx, true, func(ctx context.Context) error {
		if p := l.a.journal.situation.pause; !p.ByItself() || p.By != by {
			return nil
		}
		return l.a.lift(ctx, false)
	})
}

// Joining returns what joins the turn, after waiting while the pod is paused.
func (l *turnLog) Joining(ctx context.Context, wait bool) (j worker.Joining, err error) {
	for {
		var gate chan struct{}
		err := l.write(ctx, true, func(ctx context.Context) error {
			if wait && l.a.journal.situation.pause != nil {
				gate = l.a.gate.open
				return l.a.stopped(ctx)
			}
			gate, j = nil, l.a.joining()
			return nil
		})
		if err != nil || gate == nil {
			return j, err
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return j, context.Cause(ctx)
		}
	}
}

// stopped shows that the running turn has stopped for the pause.
func (a *actor) stopped(ctx context.Context) error {
	s := a.journal.situation
	s.held = true
	return a.journal.situate(ctx, s)
}

// joining takes what joins the running turn now.
func (a *actor) joining() worker.Joining {
	j := worker.Joining{Steered: a.inbox.steered(), Notes: waitingNotes(a.journal.state), Lifted: a.gate.lifted}
	a.gate.lifted = nil
	return j
}

// joins says whether anything would join the running turn now, or pauses the pod.
func (a *actor) joins() bool {
	return a.journal.situation.pause != nil || a.gate.lifted != nil || len(a.journal.state.Notes) > 0 || a.inbox.steers()
}

// waitingNotes are those that no turn has taken.
func waitingNotes(s fold.State) []item.Note {
	var notes []item.Note
	for _, n := range s.Notes {
		notes = append(notes, n.Note)
	}
	return notes
}
