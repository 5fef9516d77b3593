// Package checkouts is the wing of podd that gives pods checkouts of their own: repositories that podd makes from a
// person's, so that a pod works beside the person and beside other pods. It serves CheckoutService. Package checkout
// has what git does; this one says what that means for pods.
package checkouts

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"podd/internal/files"
	"podd/internal/trash"
	"podd/internal/workspace/checkout"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// Config configures Checkouts.
type Config struct {
	Host *pod.Host
	// Trash has the deleted pods; required with Git.
	Trash *trash.Trash
	// Git makes the checkouts; nil for a podd that makes none.
	Git *checkout.Checkouts
	// Files keep what files were; nil keeps nothing, and nothing can be applied.
	Files *files.Stores
}

// Checkouts are those of all pods. Its methods may be called from any goroutine. Errors that a client may see are
// *item.Error.
type Checkouts struct{ Config }

// Open makes the wing, and ends what a killed podd began. It is called before the Host recovers its pods.
func Open(ctx context.Context, c Config) *Checkouts {
	w := &Checkouts{c}
	if c.Git != nil {
		c.Trash.Restoring, c.Trash.Purged = w.restoring, w.purged
		w.settle(ctx)
	}
	return w
}

// settle ends what a killed podd began with checkouts.
func (w *Checkouts) settle(ctx context.Context) {
	says, err := w.Git.Settle(ctx, func(id string) (bool, error) {
		_, err := w.Host.Store.Pod(ctx, id)
		if item.ReasonOf(err) != store.ReasonPodNotFound {
			return err == nil, err
		}
		trashed, err := w.Host.Store.TrashedPods(ctx)
		return slices.ContainsFunc(trashed, func(p store.TrashedPod) bool { return p.ID == id }), err
	})
	for _, text := range says {
		w.Host.Alerts.Raise(item.LevelWarn, "checkout", text)
	}
	if err != nil && ctx.Err() == nil {
		w.Host.Logger.Warn("cannot end what was begun with checkouts; podd tries again when it starts", "error", err)
	}
}

// Create creates a pod in a checkout of the repository that its directory is in. base is a branch, a tag or a commit;
// empty means the commit that is checked out. With changes it begins with what is not committed, too.
func (w *Checkouts) Create(ctx context.Context, name string, spec item.PodSpec, base string, changes bool) (item.Pod, error) {
	if w.Git == nil {
		return item.Pod{}, item.Errorf(item.KindUnimplemented, "NO_CHECKOUTS", "this podd makes no checkouts")
	}
	var made item.Pod
	err := pod.Attend(ctx, w.Host, []string{spec.Dir}, func(ctx context.Context) (err error) {
		made, err = w.create(ctx, name, spec, base, changes)
		return err
	})
	if err != nil {
		return item.Pod{}, err
	}
	return made, nil
}

func (w *Checkouts) create(ctx context.Context, name string, spec item.PodSpec, base string, changes bool) (item.Pod, error) {
	var made *checkout.Record
	p, err := w.Host.CreateIn(ctx, name, spec, func(p item.Pod) (spec item.PodSpec, err error) {
		r, err := w.Git.Make(ctx, checkout.Wanted{Name: p.Name, ID: p.ID, Dir: p.Spec.Dir, Base: base, Changes: changes})
		if err != nil {
			return spec, err
		}
		made = r
		spec = p.Spec
		spec.Dir = filepath.Join(r.Dir(), r.Prefix)
		if r.Prefix != "" {
			// The whole checkout is the pod's, with its repository.
			spec.Write = append([]string{r.Dir()}, spec.Write...)
		}
		spec.Checkout = item.Checkout{Source: r.Source, Branch: r.Branch(), Base: r.Base}
		return spec, w.keepFiles(ctx, r)
	})
	switch {
	case made == nil:
		return p, err
	case err != nil:
		return item.Pod{}, errors.Join(err, w.Git.Discard(context.WithoutCancel(ctx), made))
	}
	if err := w.Git.Keep(made); err != nil {
		// It is kept when podd starts: the pod exists.
		w.Host.Logger.Warn("cannot store that a checkout is in use", "pod", p.ID, "error", err)
	}
	return p, nil
}

// Stays is where the checkout of a pod stays when the pod is deleted; empty without one.
func (w *Checkouts) Stays(ctx context.Context, idOrName string) string {
	p, err := w.Host.Store.Pod(ctx, idOrName)
	if w.Git == nil || err != nil || p.Spec.Checkout.Source == "" {
		return ""
	}
	stays, err := pod.Visit(ctx, w.Host, p.Spec.Dir, func() (string, error) {
		r, err := w.Git.Of(p.Spec.Dir)
		if err != nil || r == nil {
			return "", err
		}
		return r.Dir(), nil
	})
	if err != nil {
		return p.Spec.Dir
	}
	return stays
}

// restoring brings the checkout of a pod back from the trash, if it is there.
func (w *Checkouts) restoring(ctx context.Context, id string) error {
	r, err := w.Git.Trashed(id)
	if err != nil || r == nil {
		return err
	}
	return w.Git.Return(ctx, r)
}

// purged removes what only a deleted pod could bring back.
func (w *Checkouts) purged(ctx context.Context, id string) {
	r, err := w.Git.Trashed(id)
	var left []checkout.Left
	if err == nil && r != nil {
		left, err = w.Git.Purge(ctx, r, nil)
	}
	if err != nil || len(left) > 0 {
		w.Host.Logger.Warn("the checkout of a deleted pod stays in the trash", "pod", id, "left", left, "error", err)
	}
}

// trashTime is how long a removed checkout can be brought back.
const trashTime = 14 * 24 * time.Hour

// Sweep removes for good what was in the trash for long and still has nothing that is nowhere else.
func (w *Checkouts) Sweep(ctx context.Context) error {
	if w.Git == nil {
		return nil
	}
	return w.Git.Sweep(ctx, trashTime)
}

// at is the checkout in which a pod works.
func (w *Checkouts) at(p item.Pod) (*checkout.Record, error) {
	if w.Git == nil {
		return nil, noCheckout(p.Name, makeCheckout)
	}
	r, err := w.Git.Of(p.Spec.Dir)
	switch {
	case err == nil && r == nil:
		err = noCheckout(p.Name, makeCheckout)
	case err == nil:
		err = notCloned(r)
	}
	return r, err
}

// noCheckout refuses work on a checkout that a pod does not have. remedy is what to do instead.
func noCheckout(name, remedy string) error {
	return item.Errorf(item.KindPrecondition, "NO_CHECKOUT", "pod %s has no checkout of its own: %s", name, remedy)
}

// What to do instead of work on a checkout: of all verbs, and of a delete.
const (
	makeCheckout  = "podctl create --worktree makes a pod with one"
	leaveCheckout = "leave --checkout out"
)
