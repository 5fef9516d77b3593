package pod

import (
	"context"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
)

// Import creates a pod whose log begins with what happened elsewhere: entries that end between turns. They are stored with the
// pod in one commit, so the pod appears whole or not at all, and nobody is told of them. The id is the caller's: a second
// pod with it is refused.
func (h *Host) Import(ctx context.Context, id, name string, spec item.PodSpec, entries []item.Entry) (item.Pod, error) {
	spec, err := h.settings().pinned(spec, item.PodSpec{})
	if err != nil {
		return item.Pod{}, err
	}
	p, err := h.newPod(ctx, name, spec)
	if err != nil {
		return item.Pod{}, err
	}
	p.ID = id
	b := store.Batch{Pod: id, Create: &p, Entries: slices.Clone(entries)}
	var log fold.State
	for i, e := range b.Entries {
		e.Time, e.Kind = p.CreatedAt, takeImages(&b, e.Kind)
		b.Entries[i] = e
		e.Seq = item.Seq(i + 1)
		log.Add(e)
	}
	p.Status = status(log, situation{}, p.CreatedAt)
	if _, err := h.Store.Append(ctx, b); err != nil {
		return item.Pod{}, err
	}
	h.listeners.changed(hook.PodCreated, id, name)
	return h.Store.Pod(ctx, id)
}
