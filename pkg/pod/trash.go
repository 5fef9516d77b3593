package pod

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
)

// TrashedPod is a deleted pod that can be restored.
type TrashedPod struct {
	store.TrashedPod
	// PurgeAt is when it is removed for good.
	PurgeAt time.Time
}

// Discard deletes a pod and its sub-pods: it cancels their turns, ends their jobs, empties their
// inboxes and moves them to the trash together. Without a trash it is Delete, and purgeAt is
// zero.
func (h *Host) Discard(ctx context.Context, idOrName string) (purgeAt time.Time, err error) {
	rec, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return time.Time{}, err
	}
	if h.TrashFor <= 0 {
		return time.Time{}, h.Delete(ctx, rec.ID)
	}
	family, done, err := h.endFamily(ctx, rec)
	defer done()
	if err != nil {
		return time.Time{}, err
	}
	ids := make([]string, len(family))
	for i, p := range family {
		ids[i] = p.ID
		h.Workspaces.Leave(p.ID)
		h.ackAll(ctx, p.ID)
	}
	at := h.Now().UTC()
	if err := h.Store.TrashPods(ctx, ids, at); err != nil {
		return time.Time{}, err
	}
	for _, p := range family {
		h.listeners.changed(hook.PodDeleted, p.ID, p.Name)
	}
	return at.Add(h.TrashFor), nil
}

// endFamily ends a pod and then its sub-pods, which it spawns no more of. None of them is
// loaded again until done is called.
func (h *Host) endFamily(ctx context.Context, rec item.Pod) (family []item.Pod, done func(), err error) {
	var undo []func()
	done = func() {
		for _, u := range undo {
			u()
		}
	}
	family = []item.Pod{rec}
	for i := 0; i < len(family); i++ {
		h.loadUnfinished(ctx, family[i])
		ended, err := h.pods.end(ctx, family[i])
		if err != nil {
			return nil, done, err
		}
		undo = append(undo, ended)
		children, err := h.Family.Children(ctx, family[i].ID)
		if err != nil {
			return nil, done, err
		}
		family = append(family, children...)
	}
	return family, done, nil
}

// loadUnfinished loads a pod that has something to end, if it can be loaded.
func (h *Host) loadUnfinished(ctx context.Context, p item.Pod) {
	if a, _ := h.pods.find(p.ID); a != nil || !unfinished(p) {
		return
	}
	if _, release, err := h.pods.acquire(ctx, p.ID); err == nil {
		release()
	}
}

// ackAll acknowledges the alerts of a deleted pod. The next best moment is never: they only
// become harder to understand.
func (h *Host) ackAll(ctx context.Context, id string) {
	for {
		open, err := h.Store.Alerts(ctx, store.AlertQuery{Pod: id, Unacked: true})
		if err != nil || len(open) == 0 {
			return
		}
		seqs := make([]item.Seq, len(open))
		for i, a := range open {
			seqs[i] = a.Seq
		}
		if err := h.Alerts.Ack(ctx, seqs); err != nil {
			return
		}
	}
}

// Trashed returns the pods in the trash, the last deleted first.
func (h *Host) Trashed(ctx context.Context) ([]TrashedPod, error) {
	stored, err := h.Store.TrashedPods(ctx)
	pods := make([]TrashedPod, len(stored))
	for i, p := range stored {
		pods[i] = TrashedPod{p, p.At.Add(h.TrashFor)}
	}
	return pods, err
}

// findTrashed finds a pod in the trash: of several with the name the last deleted, and whether
// there are others.
func (h *Host) findTrashed(ctx context.Context, idOrName string) (p store.TrashedPod, others bool, err error) {
	all, err := h.Store.TrashedPods(ctx)
	if err != nil {
		return p, false, err
	}
	named := slices.DeleteFunc(slices.Clone(all), func(p store.TrashedPod) bool { return p.ID != idOrName })
	if len(named) == 0 {
		named = slices.DeleteFunc(all, func(p store.TrashedPod) bool { return p.Name != idOrName })
	}
	if len(named) == 0 {
		return p, false, item.Errorf(item.KindNotFound, store.ReasonPodNotFound, "no deleted pod %q: podctl list --trash lists them", idOrName)
	}
	return named[0], len(named) > 1, nil
}

// Restore moves a pod back, with the sub-pods that were deleted with it. It gets the name, or
// its old one if name is empty. If the name is taken: KindExists, reason POD_EXISTS.
func (h *Host) Restore(ctx context.Context, idOrName, name string) (item.Pod, error) {
	p, _, err := h.findTrashed(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	if p.With != p.ID {
		return item.Pod{}, item.Errorf(item.KindPrecondition, "DELETED_WITH", "pod %s was deleted with its parent: podctl restore %s brings both back", p.Name, p.With)
	}
	if parent := p.Spec.Parent; parent != "" {
		if _, err := h.Store.Pod(ctx, parent); err != nil {
			return item.Pod{}, item.Errorf(item.KindPrecondition, "PARENT_DELETED", "the parent of pod %s is deleted: restore it first, with podctl restore %s", p.Name, parent)
		}
	}
	name = cmp.Or(name, p.Name)
	if err := checkName(name); err != nil {
		return item.Pod{}, err
	}
	all, err := h.Store.TrashedPods(ctx)
	if err != nil {
		return item.Pod{}, err
	}
	if err := h.pods.unlessClosing(func() {}); err != nil {
		return item.Pod{}, err
	}
	for _, w := range h.wings {
		if err := w.Restoring(ctx, p.ID); err != nil {
			return item.Pod{}, err
		}
	}
	err = h.Store.RestorePod(ctx, p.ID, name)
	if item.ReasonOf(err) == store.ReasonPodExists {
		return item.Pod{}, item.Errorf(item.KindExists, store.ReasonPodExists, "the name %s is taken: give the restored pod another with podctl restore %s NEW", name, idOrName)
	}
	if err != nil {
		return item.Pod{}, err
	}
	for _, back := range all {
		if back.With == p.ID {
			h.returned(ctx, back.ID)
		}
	}
	return h.Get(ctx, p.ID)
}

// returned lets a restored pod work on what podd could not end when it was deleted.
func (h *Host) returned(ctx context.Context, id string) {
	p, err := h.Store.Pod(ctx, id)
	if err == nil && unfinished(p) {
		err = h.recover(ctx, p)
	}
	if err != nil {
		h.Logger.Warn("cannot load a restored pod", "pod", id, "error", err)
	}
	h.listeners.changed(hook.PodCreated, id, p.Name)
}

// FindTrashed finds a pod in the trash. One name of several is an error.
func (h *Host) FindTrashed(ctx context.Context, idOrName string) (TrashedPod, error) {
	p, others, err := h.findTrashed(ctx, idOrName)
	if err == nil && others {
		err = item.Errorf(item.KindPrecondition, "AMBIGUOUS", "several deleted pods had the name %s: name one by its id, as podctl list --trash shows it", idOrName)
	}
	return TrashedPod{p, p.At.Add(h.TrashFor)}, err
}

// Purge removes a pod in the trash for good.
func (h *Host) Purge(ctx context.Context, idOrName string) error {
	p, err := h.FindTrashed(ctx, idOrName)
	if err != nil {
		return err
	}
	return h.purge(ctx, p.ID)
}

// purge removes a pod, after those in the trash that nothing could restore without it.
func (h *Host) purge(ctx context.Context, id string) error {
	all, err := h.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.ID != id && (p.With == id || p.Spec.Parent == id) {
			if err := h.purge(ctx, p.ID); err != nil {
				return err
			}
		}
	}
	err = h.Store.DeletePod(ctx, id)
	if err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
		return err
	}
	for _, w := range h.wings {
		w.Purged(ctx, id)
	}
	return h.Workspaces.Remove(id)
}

// SweepTrash removes for good what was in the trash for its time, and what the wings have too long.
func (h *Host) SweepTrash(ctx context.Context) error {
	all, err := h.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range all {
		if p.Node != h.Node || p.At.Add(h.TrashFor).After(h.Now()) {
			continue
		}
		if err := h.purge(ctx, p.ID); err != nil {
			failed = append(failed, err)
			continue
		}
		h.Logger.Info("removed a deleted pod for good", "pod", p.ID, "name", p.Name)
	}
	for _, w := range h.wings {
		failed = append(failed, w.Sweep(ctx))
	}
	return errors.Join(failed...)
}
