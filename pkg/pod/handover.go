package pod

import (
	"context"
	"slices"
	"time"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// HandOver gives a pod and its sub-pods, with new specs, to another node. It parks them: their
// turns end as when podd stops, and what comes in waits. hand changes the owner in the
// store. If that fails, they go on here. It does not end with ctx.
func (h *Host) HandOver(ctx context.Context, family []item.Pod, to string, hand func(context.Context, []item.Pod) error) error {
	ctx = context.WithoutCancel(ctx) // Do not stop halfway.
	unpark, err := h.pods.park(family, to)
	if err != nil {
		return err
	}
	if err = h.handParked(ctx, family, to, hand); err != nil {
		unpark()
		h.pods.start(func() { h.regainPods(family) })
		return err
	}
	unpark()
	for _, p := range family {
		h.pods.setLate(p.ID, nil)
		h.Workspaces.Abandon(p.ID, false) // What it started here has no reader any more.
		h.listeners.changed(hook.PodUpdated, p.ID, p.Name)
	}
	return nil
}

// regainPods goes on with pods that could not be handed over. If the answer was lost and they
// were, the store refuses it.
func (h *Host) regainPods(family []item.Pod) {
	var ours []item.Pod
	for _, p := range family {
		switch now, err := h.Store.Pod(h.base, p.ID); {
		case err != nil:
			ours = append(ours, p)
		case now.Node == h.Node:
			ours = append(ours, now)
		default:
			h.Workspaces.Abandon(p.ID, false)
		}
	}
	_ = h.Continue(h.base, ours...)
}

// handParked ends parked pods and gives them away.
func (h *Host) handParked(ctx context.Context, family []item.Pod, to string, hand func(context.Context, []item.Pod) error) error {
	if err := h.endParked(family, to); err != nil {
		return err
	}
	// None of them spawns a pod any more.
	for _, p := range family {
		children, err := h.Family.Children(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, c := range children {
			if !slices.ContainsFunc(family, func(p item.Pod) bool { return p.ID == c.ID }) {
				return item.Errorf(item.KindUnavailable, store.ReasonMoving, "pod %s spawned pod %s meanwhile: move it again", p.Name, c.Name)
			}
		}
	}
	return hand(ctx, family)
}

// endParked ends parked pods, with the grace of a stopping podd.
func (h *Host) endParked(family []item.Pod, to string) error {
	grace := make(chan struct{})
	time.AfterFunc(h.Grace, func() { close(grace) })
	var all []*actor
	for _, p := range family {
		a, _ := h.pods.find(p.ID)
		if a == nil {
			continue
		}
		all = append(all, a)
		if !h.pods.start(func() {
			a.mailbox.leave(grace, store.Moving(p.Name, to), worker.ErrShutdown, func(item.Pod) bool { return true })
		}) {
			return errStopping
		}
	}
	late := time.NewTimer(h.Grace + endPatience + leaveTime)
	defer late.Stop()
	for _, a := range all {
		select {
		case <-a.life.Done():
		case <-h.pods.ending:
			return errStopping
		case <-late.C:
			return item.Errorf(item.KindUnavailable, "POD_HANGS",
				"pod %s does not stop, because the file system of its workspace does not answer: repair it, then move the pod again", a.id)
		}
	}
	return nil
}

// leave is end for a pod that goes on later, perhaps at another node. If it moves there now, a turn
// in which no call runs ends at once: it asks the model, and the next owner asks again. closing and
// cause are those of end.
func (m *mailbox) leave(hurry <-chan struct{}, closing, cause error, moves func(item.Pod) bool) {
	a := m.actor
	_ = m.do(a.host.base, func() {
		a.closing = closing
		if a.turns.now != nil && len(a.journal.state.Turn.Calls) == 0 && moves(a.journal.rec) {
			a.turns.now.cancel(worker.ErrShutdown)
		}
	})
	m.end(hurry, closing, cause)
}

// park keeps pods from being loaded until unpark is called; callers wait.
func (l *loaded) park(pods []item.Pod, to string) (unpark func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return nil, errStopping
	}
	for _, p := range pods {
		if l.parked[p.ID] != nil {
			return nil, store.Moving(p.Name, to)
		}
	}
	over := make(chan struct{})
	for _, p := range pods {
		l.parked[p.ID] = over
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, p := range pods {
			delete(l.parked, p.ID)
		}
		close(over)
	}, nil
}

// settled is the record of a pod that is not moving. A pod that has moved is refused, so that
// the caller looks where it is.
func (l *loaded) settled(ctx context.Context, idOrName string) (rec item.Pod, err error) {
	for from := ""; ; from = rec.Node {
		if rec, err = l.store.Pod(ctx, idOrName); err != nil {
			return rec, err
		}
		if from != "" && rec.Node != from {
			return rec, store.Moving(rec.Name, rec.Node)
		}
		l.mu.Lock()
		over := l.parked[rec.ID]
		l.mu.Unlock()
		if over == nil {
			return rec, nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return rec, context.Cause(ctx)
		case <-l.ending:
			return rec, errStopping
		}
	}
}
