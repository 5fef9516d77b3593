package pod

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Checkouts are repositories that podd makes for pods, each a checkout of a person's. Package
// workspace has them. Their methods may hang.
type Checkouts interface {
	// Make makes the checkout of a pod that is not stored yet. Unless Keep is called it goes again,
	// by Discard or when podd starts.
	Make(ctx context.Context, p item.Pod, w Worktree) (NewCheckout, error)
	// Settle ends what a killed podd began; exists says whether a pod does, in the trash too.
	Settle(ctx context.Context, exists func(id string) (bool, error)) error
	// Find is the checkout that a directory is in, or that was made for a pod, by its id or its
	// name then; empty without one.
	Find(dir, idOrName string) (FoundCheckout, error)
	// Remove moves a checkout to the trash if nothing is in it that is nowhere else, but for drop.
	// Else it says what, a line each. With dry it only looks.
	Remove(ctx context.Context, c FoundCheckout, drop []string, dry bool) (left []string, err error)
	// Return brings the checkout of a pod back from the trash, if it is there.
	Return(ctx context.Context, id string) error
	// Sweep removes for good what was in the trash for its time and still has nothing that is
	// nowhere else.
	Sweep(ctx context.Context) error
}

// Worktree says what a checkout begins with.
type Worktree struct {
	// Base is a branch, a tag or a commit; empty means the commit that is checked out. Changes
	// brings what is not committed.
	Base    string
	Changes bool
}

// NewCheckout is a checkout whose pod is not stored yet.
type NewCheckout struct {
	// Spec is the pod's, with its directories in the checkout.
	Spec item.PodSpec
	// Keep says that the pod is stored, Discard that it is not.
	Keep    func() error
	Discard func(ctx context.Context) error
}

// FoundCheckout is a checkout that exists.
type FoundCheckout struct {
	// Dir is where it is, Pod the id of the pod that it was made for.
	Dir, Pod string
}

// has says whether a path is the checkout or in it.
func (c FoundCheckout) has(path string) bool { return strings.HasPrefix(path+"/", c.Dir+"/") }

// Worktrees make pods with checkouts of their own, and remove them. The methods may be called from
// any goroutine.
type Worktrees struct{ host *Host }

// Create creates a pod in a checkout of the repository that its directory is in.
func (t *Worktrees) Create(ctx context.Context, name string, spec item.PodSpec, w Worktree) (item.Pod, error) {
	h := t.host
	if h.Checkouts == nil {
		return item.Pod{}, item.Errorf(item.KindUnimplemented, "NO_CHECKOUTS", "this podd makes no checkouts")
	}
	spec, err := asked(h, spec)
	if err != nil {
		return item.Pod{}, err
	}
	p, err := h.newPod(name, spec)
	if err != nil {
		return item.Pod{}, err
	}
	if _, err := h.Store.Pod(ctx, name); err == nil {
		return item.Pod{}, item.Errorf(item.KindExists, store.ReasonPodExists, "pod %q already exists", name)
	}
	made, err := h.Checkouts.Make(ctx, p, w)
	if err != nil {
		return item.Pod{}, err
	}
	p.Spec = made.Spec
	p, err = stored(ctx, h, p)
	if err != nil {
		return item.Pod{}, errors.Join(err, made.Discard(context.WithoutCancel(ctx)))
	}
	if err := made.Keep(); err != nil {
		// It is kept when podd starts: the pod exists.
		h.Logger.Warn("cannot store that a checkout is in use", "pod", p.ID, "error", err)
	}
	return p, nil
}

// settle ends what a killed podd began with checkouts.
func (t *Worktrees) settle(ctx context.Context) {
	h := t.host
	if h.Checkouts == nil {
		return
	}
	err := h.Checkouts.Settle(ctx, func(id string) (bool, error) {
		_, err := h.Store.Pod(ctx, id)
		if item.ReasonOf(err) != store.ReasonPodNotFound {
			return err == nil, err
		}
		trashed, err := h.Store.TrashedPods(ctx)
		return slices.ContainsFunc(trashed, func(p store.TrashedPod) bool { return p.ID == id }), err
	})
	if err != nil && ctx.Err() == nil {
		h.Logger.Warn("cannot end what was begun with checkouts; podd tries again when it starts", "error", err)
	}
}

// Stays is where the checkout of a pod stays when the pod is deleted; empty without one.
func (t *Worktrees) Stays(ctx context.Context, idOrName string) string {
	if t.host.Checkouts == nil {
		return ""
	}
	p, err := t.host.Store.Pod(ctx, idOrName)
	if err != nil || p.Spec.Checkout.Source == "" {
		return ""
	}
	found, err := t.host.Checkouts.Find(p.Spec.Dir, "")
	if err != nil {
		return p.Spec.Dir
	}
	return found.Dir
}

// Delete deletes a pod, if it still exists, together with its checkout. It refuses to if that has
// something that is nowhere else, but for drop: then nothing is deleted. now removes the pod for
// good, while the checkout is in the trash for its time.
func (t *Worktrees) Delete(ctx context.Context, idOrName string, drop []string, now bool) (purgeAt time.Time, err error) {
	h := t.host
	if h.Checkouts == nil {
		return purgeAt, noCheckout(idOrName)
	}
	rec, err := h.Store.Pod(ctx, idOrName)
	exists := err == nil
	if !exists && item.ReasonOf(err) != store.ReasonPodNotFound {
		return purgeAt, err
	}
	missing := err
	found, err := h.Checkouts.Find(rec.Spec.Dir, idOrName)
	if err != nil {
		return purgeAt, err
	}
	if found.Dir == "" {
		if !exists {
			return purgeAt, missing
		}
		return purgeAt, noCheckout(rec.Name)
	}
	if err := t.unused(ctx, rec, found); err != nil {
		return purgeAt, err
	}
	left, err := h.Checkouts.Remove(ctx, found, drop, true)
	if err == nil && len(left) > 0 {
		err = notSaved(found, left)
	}
	if err != nil {
		return purgeAt, err
	}
	switch {
	case exists && now:
		err = h.Delete(ctx, rec.ID)
	case exists:
		purgeAt, err = h.Trash.Put(ctx, rec.ID)
	}
	if err != nil {
		return purgeAt, err
	}
	// Nothing of the pod runs any more; what it did meanwhile counts.
	if left, err = h.Checkouts.Remove(ctx, found, drop, false); err == nil && len(left) > 0 {
		err = notSaved(found, left)
	}
	if err != nil {
		return purgeAt, fmt.Errorf("the pod is deleted, and its checkout stays: %w", err)
	}
	return purgeAt, nil
}

func noCheckout(name string) error {
	return item.Errorf(item.KindPrecondition, "NO_CHECKOUT", "pod %s has no checkout of its own: leave --checkout out", name)
}

// unused refuses the removal of a checkout in which something runs, or another pod works.
func (t *Worktrees) unused(ctx context.Context, rec item.Pod, c FoundCheckout) error {
	pods, err := t.host.Store.Pods(ctx)
	if err != nil {
		return err
	}
	family := map[string]bool{rec.ID: true}
	for more := true; more; {
		more = false
		for _, p := range pods {
			if family[p.Spec.Parent] && !family[p.ID] {
				family[p.ID], more = true, true
			}
		}
	}
	for _, p := range pods {
		p = t.host.pods.asShown(p)
		switch {
		case !family[p.ID]:
			if slices.ContainsFunc(p.Spec.Readable(), c.has) {
				return item.Errorf(item.KindPrecondition, "CHECKOUT_IN_USE", "pod %s works in the checkout %s too: delete that pod first", p.Name, c.Dir)
			}
		case p.Status.State == item.StateRunning || p.Status.State == item.StateWaiting || p.Status.State == item.StateResuming || p.Queued > 0:
			return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is at work in its checkout: wait for its end or cancel it with podctl cancel", p.Name)
		case p.Status.Jobs > 0:
			return item.Errorf(item.KindPrecondition, "BUSY", "pod %s has a running background command: wait for its end or stop it with podctl jobs", p.Name)
		}
	}
	return nil
}

// notSaved says what a removal would lose.
func notSaved(c FoundCheckout, left []string) error {
	named := slices.Clone(left[:min(len(left), maxNamedFiles)])
	if more := len(left) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return item.Errorf(item.KindPrecondition, "CHECKOUT_NOT_SAVED", "the checkout %s has what is nowhere else: %s; commit it, land it, or name what may go with --drop", c.Dir, strings.Join(named, ", "))
}
