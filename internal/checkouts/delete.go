package checkouts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/internal/workspace/checkout"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// Delete deletes a pod, if it still exists, together with its checkout. It refuses to if that has
// something that is nowhere else, but for drop: then nothing is deleted. now removes both for good,
// also from the trash.
func (w *Checkouts) Delete(ctx context.Context, idOrName string, drop []string, now bool) (purgeAt time.Time, err error) {
	if w.Git == nil {
		return purgeAt, noCheckout(idOrName, leaveCheckout)
	}
	var dirs []string
	if p, err := w.Host.Store.Pod(ctx, idOrName); err == nil {
		dirs = pod.Touched(p.Spec)
	}
	var at time.Time
	err = pod.Attend(ctx, w.Host, dirs, func(ctx context.Context) (err error) {
		at, err = w.delete(ctx, idOrName, drop, now)
		return err
	})
	if err != nil {
		return purgeAt, err
	}
	return at, nil
}

func (w *Checkouts) delete(ctx context.Context, idOrName string, drop []string, now bool) (purgeAt time.Time, err error) {
	if drop, err = checkout.Dropped(drop); err != nil {
		return purgeAt, err
	}
	d, err := w.deletion(ctx, idOrName, now)
	if err != nil {
		return purgeAt, err
	}
	r, err := w.Git.Of(d.rec.Spec.Dir)
	if err == nil && r == nil && d.rec.Spec.Dir == "" {
		r, err = w.Git.Named(idOrName)
	}
	if err == nil && r == nil {
		return w.deleteTrashed(ctx, d, drop)
	}
	if err == nil {
		err = notCloned(r)
	}
	if err == nil {
		err = w.unused(ctx, d.rec, r)
	}
	if err == nil {
		err = saved(r.Dir())(w.Git.Left(ctx, r, drop))
	}
	if err != nil {
		return purgeAt, err
	}
	if purgeAt, err = w.deletePod(ctx, d); err != nil {
		return purgeAt, err
	}
	// Nothing of the pod runs any more; what it did meanwhile counts. A trash is for what can be restored.
	remove := w.Git.Remove
	if purgeAt.IsZero() {
		remove = w.Git.Purge
	}
	if err := saved(r.Dir())(remove(ctx, r, drop)); err != nil {
		return purgeAt, fmt.Errorf("the pod is deleted, and its checkout stays: %w", err)
	}
	return purgeAt, nil
}

// notCloned refuses a directory that an earlier podd cloned for a pod.
func notCloned(r *checkout.Record) error {
	if r.URL == "" {
		return nil
	}
	return item.Errorf(item.KindPrecondition, "IN_CLONE", "an earlier podd cloned %s for this pod: push its work with git -C %s push %s, and remove the directory yourself", r.URL, sanitize.Word(r.Dir()), sanitize.Word(r.URL))
}

// deletion is what is deleted with a checkout.
type deletion struct {
	// rec is the pod; without an id it is not stored any more. name is as a person named it.
	rec  item.Pod
	name string
	// until is how long the trash has it; zero if it is not there.
	until time.Time
	now   bool
}

func (w *Checkouts) deletion(ctx context.Context, idOrName string, now bool) (d deletion, err error) {
	d = deletion{name: idOrName, now: now}
	d.rec, err = w.Host.Store.Pod(ctx, idOrName)
	if item.ReasonOf(err) != store.ReasonPodNotFound {
		return d, err
	}
	trashed, err := w.Trash.Find(ctx, idOrName)
	if item.ReasonOf(err) == store.ReasonPodNotFound {
		return d, nil
	}
	d.rec, d.until = trashed.Pod, trashed.PurgeAt
	return d, err
}

// deleteTrashed deletes a pod whose checkout is in the trash, or nowhere.
func (w *Checkouts) deleteTrashed(ctx context.Context, d deletion, drop []string) (purgeAt time.Time, err error) {
	isStored := d.rec.ID != "" && d.until.IsZero()
	if d.now && !isStored {
		r, err := w.Git.Trashed(cmp.Or(d.rec.ID, d.name))
		if err == nil && r != nil {
			err = saved("of pod " + d.name)(w.Git.Purge(ctx, r, drop))
		}
		if err != nil {
			return purgeAt, err
		}
		if r != nil || d.rec.ID != "" {
			return w.deletePod(ctx, d)
		}
	}
	switch {
	case d.rec.ID == "":
		_, err := w.Host.Store.Pod(ctx, d.name)
		return purgeAt, err
	case !isStored:
		return purgeAt, item.Errorf(item.KindPrecondition, "IN_TRASH", "pod %s is deleted already, and no checkout of it is left outside of the trash: --now removes both for good", d.rec.Name)
	}
	return purgeAt, noCheckout(d.rec.Name, leaveCheckout)
}

// deletePod deletes the pod of a deletion, if it is stored.
func (w *Checkouts) deletePod(ctx context.Context, d deletion) (purgeAt time.Time, err error) {
	switch {
	case d.rec.ID == "":
		return purgeAt, nil
	case !d.until.IsZero() && d.now:
		return purgeAt, w.Trash.Purge(ctx, d.rec.ID)
	case !d.until.IsZero():
		return d.until, nil
	case d.now:
		return purgeAt, w.Host.Delete(ctx, d.rec.ID)
	}
	return w.Trash.Discard(ctx, d.rec.ID)
}

// atWork says whether a pod has a turn that runs, or a background command.
func atWork(p item.Pod) bool {
	return p.Status.State == item.StateRunning || p.Status.State == item.StateWaiting || p.Status.State == item.StateResuming || p.Status.Jobs > 0
}

// unused refuses the removal of a checkout in which something runs, or another pod works, or will once it is
// restored.
func (w *Checkouts) unused(ctx context.Context, rec item.Pod, r *checkout.Record) error {
	pods, err := w.Host.List(ctx, "")
	if err != nil {
		return err
	}
	trashed, err := w.Host.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	every := slices.Clone(pods)
	for _, p := range trashed {
		every = append(every, p.Pod)
	}
	ours, back := descent(every, rec.ID), descent(every, r.Pod)
	for _, p := range trashed {
		// The pod that it was made for gets it back.
		if !ours[p.ID] && !back[p.ID] && slices.ContainsFunc(p.Spec.Readable(), r.Has) {
			return item.Errorf(item.KindPrecondition, "CHECKOUT_IN_USE",
				"the deleted pod %s works in the checkout %s too, once it is restored: remove it for good with podctl delete %s --now", p.Name, r.Dir(), p.ID)
		}
	}
	for _, p := range pods {
		switch {
		case !ours[p.ID]:
			if slices.ContainsFunc(p.Spec.Readable(), r.Has) {
				return item.Errorf(item.KindPrecondition, "CHECKOUT_IN_USE", "pod %s works in the checkout %s too: delete that pod first", p.Name, r.Dir())
			}
		case atWork(p) || p.Queued > 0:
			return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is at work in its checkout: wait for its end, or end it with podctl cancel and podctl jobs", p.Name)
		}
	}
	return nil
}

// descent are a pod and those that it spawned, and so on; none without an id.
func descent(pods []item.Pod, id string) map[string]bool {
	all := map[string]bool{}
	if id == "" {
		return all
	}
	all[id] = true
	for more := true; more; {
		more = false
		for _, p := range pods {
			if all[p.Spec.Parent] && !all[p.ID] {
				all[p.ID], more = true, true
			}
		}
	}
	return all
}

// saved refuses a removal that would lose something.
func saved(checkoutName string) func([]checkout.Left, error) error {
	return func(left []checkout.Left, err error) error {
		if err != nil || len(left) == 0 {
			return err
		}
		names := make([]string, len(left))
		for i, l := range left {
			names[i] = l.What + " " + l.Name
		}
		return item.Errorf(item.KindPrecondition, "CHECKOUT_NOT_SAVED", "the checkout %s has what is nowhere else: %s; commit it, land it, or name what may go with --drop", checkoutName, listed(names))
	}
}

// maxNamed is how many names an error lists.
const maxNamed = 20

// listed lists some names, and says how many more there are.
func listed(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
