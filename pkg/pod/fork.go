package pod

import (
	"context"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// Forked is a new pod on another's history, and what it does not undo.
type Forked struct {
	Pod item.Pod
	// Files are those that tools changed after the entry of the fork, Commands counts the
	// shell commands that ran there.
	Files    []string
	Commands int
}

// Fork creates a pod whose history is another's up to the entry at; 0 is all of it. The
// entries are shared, and the other pod does not change: it may be running. The fork has
// neither its inbox nor its alerts. A fork starts nothing by itself: a turn that it cuts,
// and one that a note was about to start, is closed as interrupted.
func (h *Host) Fork(ctx context.Context, idOrName, name string, at item.Seq) (Forked, error) {
	parent, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return Forked{}, err
	}
	if at == 0 {
		at = parent.Last
	}
	spec := parent.Spec
	spec.Parent, spec.ParentCall = "", ""
	p, err := h.newPod(ctx, name, spec)
	if err != nil {
		return Forked{}, err
	}
	if at == 0 {
		// Nothing has happened yet.
		if err := h.Store.CreatePod(ctx, p); err != nil {
			return Forked{}, err
		}
		return h.forked(ctx, p, &cut{})
	}
	c, err := h.Logs.cutAt(ctx, parent, at)
	if err != nil {
		return Forked{}, err
	}
	last, err := h.Store.Read(ctx, parent.ID, at-1, 1)
	if err != nil {
		return Forked{}, err
	}
	shared, err := last[0].Decode()
	if err != nil {
		return Forked{}, damaged(parent.ID, at, err)
	}
	if shared.Time.After(p.Status.LastActivity) {
		// The clock was set back since: the times of the log do not go back.
		p.Status.LastActivity = shared.Time
	}
	s := c.fold.State
	p.Status.Turn, p.Status.Usage = s.Turn.Number, s.Total.Usage
	_, wakes := s.Wakes()
	// load closes the turn.
	switch {
	case s.Turn.Open:
		p.Status.State, p.Status.Reason = item.StateInterrupted, "pod "+parent.Name+" was forked in the middle of this turn"
	case wakes:
		p.Status.State, p.Status.Reason = item.StateInterrupted, "pod "+parent.Name+" was forked before this turn began"
	}
	if err := h.Store.Fork(ctx, parent.ID, at, p); err != nil {
		return Forked{}, err
	}
	return h.forked(ctx, p, c)
}

func (h *Host) forked(ctx context.Context, p item.Pod, c *cut) (Forked, error) {
	h.listeners.changed(hook.PodCreated, p.ID, p.Name)
	_, release, err := h.pods.acquire(ctx, p.ID)
	if err != nil {
		return Forked{}, err
	}
	release()
	made, err := h.Store.Pod(ctx, p.ID)
	return Forked{Pod: made, Files: c.files, Commands: c.commands}, err
}
