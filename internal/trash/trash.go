// Package trash is the wing of podd that keeps deleted pods for a while: they can be restored until it removes them for good.
package trash

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// Config configures a Trash.
type Config struct {
	Host *pod.Host
	// For is how long the trash keeps a deleted pod; 0 means that there is no trash.
	For time.Duration
}

// Trash has the deleted pods. Its methods may be called from any goroutine. Errors that a client may see are *item.Error.
type Trash struct {
	Config
	// Restoring brings back what another wing has of a pod, by its id, that comes back. Its error keeps the pod here.
	// Purged removes what that has of a pod that is gone for good. Both may be nil, and are set before clients are served.
	Restoring func(ctx context.Context, id string) error
	Purged    func(ctx context.Context, id string)
}

// Open opens the trash.
func Open(c Config) *Trash { return &Trash{Config: c} }

// Pod is a deleted pod that can be restored.
type Pod struct {
	store.TrashedPod
	// PurgeAt is when it is removed for good.
	PurgeAt time.Time
}

// Discard deletes a pod and its sub-pods: it cancels their turns, ends their jobs, empties their
// inboxes and moves them to the trash together. Without a trash it is Delete, and purgeAt is
// zero.
func (t *Trash) Discard(ctx context.Context, idOrName string) (purgeAt time.Time, err error) {
	rec, err := t.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return time.Time{}, err
	}
	if t.For <= 0 {
		return time.Time{}, t.Host.Delete(ctx, rec.ID)
	}
	family, done, err := t.Host.EndFamily(ctx, rec)
	defer done()
	if err != nil {
		return time.Time{}, err
	}
	ids := make([]string, len(family))
	for i, p := range family {
		ids[i] = p.ID
		t.Host.Workspaces.Leave(p.ID)
		t.ackAll(ctx, p.ID)
	}
	at := t.Host.Now().UTC()
	if err := t.Host.Store.TrashPods(ctx, ids, at); err != nil {
		return time.Time{}, err
	}
	for _, p := range family {
		t.Host.Announce(hook.PodDeleted, p.ID, p.Name)
	}
	return at.Add(t.For), nil
}

// ackAll acknowledges the alerts of a deleted pod. The next best moment is never: they only
// become harder to understand.
func (t *Trash) ackAll(ctx context.Context, id string) {
	for {
		open, err := t.Host.Store.Alerts(ctx, store.AlertQuery{Pod: id, Unacked: true})
		if err != nil || len(open) == 0 {
			return
		}
		seqs := make([]item.Seq, len(open))
		for i, a := range open {
			seqs[i] = a.Seq
		}
		if err := t.Host.Alerts.Ack(ctx, seqs); err != nil {
			return
		}
	}
}

// List returns the pods in the trash, the last deleted first.
func (t *Trash) List(ctx context.Context) ([]Pod, error) {
	stored, err := t.Host.Store.TrashedPods(ctx)
	pods := make([]Pod, len(stored))
	for i, p := range stored {
		pods[i] = Pod{p, p.At.Add(t.For)}
	}
	return pods, err
}

// find finds a pod in the trash: of several with the name the last deleted, and whether
// there are others.
func (t *Trash) find(ctx context.Context, idOrName string) (p store.TrashedPod, others bool, err error) {
	all, err := t.Host.Store.TrashedPods(ctx)
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
func (t *Trash) Restore(ctx context.Context, idOrName, name string) (item.Pod, error) {
	p, _, err := t.find(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	if p.With != p.ID {
		return item.Pod{}, item.Errorf(item.KindPrecondition, "DELETED_WITH", "pod %s was deleted with its parent: podctl restore %s brings both back", p.Name, p.With)
	}
	if parent := p.Spec.Parent; parent != "" {
		if _, err := t.Host.Store.Pod(ctx, parent); err != nil {
			return item.Pod{}, item.Errorf(item.KindPrecondition, "PARENT_DELETED", "the parent of pod %s is deleted: restore it first, with podctl restore %s", p.Name, parent)
		}
	}
	name = cmp.Or(name, p.Name)
	if err := pod.CheckName(name); err != nil {
		return item.Pod{}, err
	}
	all, err := t.Host.Store.TrashedPods(ctx)
	if err != nil {
		return item.Pod{}, err
	}
	if t.Restoring != nil {
		if err := t.Restoring(ctx, p.ID); err != nil {
			return item.Pod{}, err
		}
	}
	err = t.Host.Store.RestorePod(ctx, p.ID, name)
	if item.ReasonOf(err) == store.ReasonPodExists {
		return item.Pod{}, item.Errorf(item.KindExists, store.ReasonPodExists, "the name %s is taken: give the restored pod another with podctl restore %s NEW", name, idOrName)
	}
	if err != nil {
		return item.Pod{}, err
	}
	for _, back := range all {
		if back.With == p.ID {
			t.returned(ctx, back.ID)
		}
	}
	return t.Host.Get(ctx, p.ID)
}

// returned lets a restored pod work on what podd could not end when it was deleted.
func (t *Trash) returned(ctx context.Context, id string) {
	p, err := t.Host.Store.Pod(ctx, id)
	if err == nil {
		err = t.Host.Continue(ctx, p)
	}
	if err != nil {
		t.Host.Logger.Warn("cannot load a restored pod", "pod", id, "error", err)
	}
	t.Host.Announce(hook.PodCreated, id, p.Name)
}

// Find finds a pod in the trash. One name of several is an error.
func (t *Trash) Find(ctx context.Context, idOrName string) (Pod, error) {
	p, others, err := t.find(ctx, idOrName)
	if err == nil && others {
		err = item.Errorf(item.KindPrecondition, "AMBIGUOUS", "several deleted pods had the name %s: name one by its id, as podctl list --trash shows it", idOrName)
	}
	return Pod{p, p.At.Add(t.For)}, err
}

// Purge removes a pod in the trash for good.
func (t *Trash) Purge(ctx context.Context, idOrName string) error {
	p, err := t.Find(ctx, idOrName)
	if err != nil {
		return err
	}
	return t.purge(ctx, p.ID)
}

// purge removes a pod, after those in the trash that nothing could restore without it.
func (t *Trash) purge(ctx context.Context, id string) error {
	all, err := t.Host.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.ID != id && (p.With == id || p.Spec.Parent == id) {
			if err := t.purge(ctx, p.ID); err != nil {
				return err
			}
		}
	}
	err = t.Host.Store.DeletePod(ctx, id)
	if err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
		return err
	}
	if t.Purged != nil {
		t.Purged(ctx, id)
	}
	return t.Host.Workspaces.Remove(id)
}

// Sweep removes for good what was in the trash for its time.
func (t *Trash) Sweep(ctx context.Context) error {
	all, err := t.Host.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range all {
		if p.Node != t.Host.Node || p.At.Add(t.For).After(t.Host.Now()) {
			continue
		}
		if err := t.purge(ctx, p.ID); err != nil {
			failed = append(failed, err)
			continue
		}
		t.Host.Logger.Info("removed a deleted pod for good", "pod", p.ID, "name", p.Name)
	}
	return errors.Join(failed...)
}
