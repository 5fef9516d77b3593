package workspace

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"podd/internal/sanitize"
	"podd/internal/workspace/checkout"
	"podd/internal/workspace/checkpoint"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool/builtin"
)

// Checkouts are those of all pods.
type Checkouts struct {
	all *checkout.Checkouts
	// stores are nil without checkpoints.
	stores *checkpoint.Stores
}

var _ pod.Checkouts = (*Checkouts)(nil)

// Checkouts are those of the workspaces; nil if they have none.
func (all *Workspaces) Checkouts() pod.Checkouts {
	if all.checkouts == nil {
		return nil
	}
	return &Checkouts{all.checkouts, all.stores}
}

func openCheckouts(c Config) *checkout.Checkouts {
	box, refuses := c.Shell.Sandbox, ""
	if fate := box.Fate(); fate != builtin.FateConfined && fate != builtin.FateRun {
		refuses = "podd runs git for checkouts in a sandbox, and none works here (" + box.Why() + "): install bubblewrap, or set [sandbox] mode to off"
	}
	return checkout.New(checkout.Config{
		Dir: c.CheckoutDir, Environ: c.Shell.Environ, Home: c.Home, Logger: c.Logger, Now: c.Now, Refuses: refuses, Hides: box.Hides,
		Confine: func(ctx context.Context, c checkout.Confined, argv ...string) (*exec.Cmd, func(), error) {
			return box.Confine(ctx, builtin.Confined(c), argv...)
		},
	})
}

// borrowed are the directories with the objects of the checkouts that a pod works in. Its commands see
// them, for git. A store that the repository names gives no right to what is hidden.
func (all *Workspaces) borrowed(spec item.PodSpec) (dirs []string) {
	if all.checkouts == nil {
		return nil
	}
	for _, dir := range spec.Readable() {
		if r, err := all.checkouts.Of(dir); err == nil && r != nil {
			stores := r.Stores()
			dirs = append(dirs, stores[0])
			dirs = append(dirs, slices.DeleteFunc(stores[1:], all.Shell.Sandbox.Hides)...)
		}
	}
	return dirs
}

// Make makes a checkout; see [pod.Checkouts].
func (c *Checkouts) Make(ctx context.Context, p item.Pod, w pod.Worktree) (pod.NewCheckout, error) {
	r, err := c.all.Make(ctx, checkout.Wanted{Name: p.Name, ID: p.ID, Dir: p.Spec.Dir, Base: w.Base, Changes: w.Changes})
	if err != nil {
		return pod.NewCheckout{}, err
	}
	if err := c.begun(ctx, r); err != nil {
		return pod.NewCheckout{}, errors.Join(err, c.all.Discard(context.WithoutCancel(ctx), r))
	}
	spec := p.Spec
	spec.Dir = filepath.Join(r.Dir(), r.Prefix)
	if r.Prefix != "" {
		// The whole checkout is the pod's, with its repository.
		spec.Write = append([]string{r.Dir()}, spec.Write...)
	}
	spec.Checkout = item.Checkout{Source: r.Source, Branch: r.Branch(), Base: r.Base}
	return pod.NewCheckout{
		Spec: spec, Keep: func() error { return c.all.Keep(r) }, Discard: func(ctx context.Context) error { return c.all.Discard(ctx, r) },
	}, nil
}

// Settle ends what a killed podd began; see [pod.Checkouts].
func (c *Checkouts) Settle(ctx context.Context, exists func(id string) (bool, error)) (says []string, err error) {
	return c.all.Settle(ctx, exists)
}

// leaving brings the commits of a turn that ends into the repository of the person whose checkout
// the pod works in. It is nil for a pod in no checkout.
func (all *Workspaces) leaving(spec item.PodSpec) func(ctx context.Context) string {
	if all.checkouts == nil {
		return nil
	}
	r, err := all.checkouts.Of(spec.Dir)
	if err != nil || r == nil || r.URL != "" {
		return nil
	}
	return func(ctx context.Context) string {
		says, err := all.checkouts.Fetch(ctx, r)
		if err != nil {
			return "the commits of this turn are only in the checkout " + r.Dir() + ": " + err.Error() + "; podd tries again at the end of the next turn"
		}
		return says
	}
}

// Find finds a checkout; see [pod.Checkouts].
func (c *Checkouts) Find(dir, idOrName string) (found pod.FoundCheckout, err error) {
	r, err := c.all.Of(dir)
	if err == nil && r == nil && dir == "" {
		r, err = c.all.Named(idOrName)
	}
	if err != nil || r == nil {
		return found, err
	}
	return pod.FoundCheckout{Dir: r.Dir(), Pod: r.Pod}, nil
}

// Remove removes a checkout; see [pod.Checkouts].
func (c *Checkouts) Remove(ctx context.Context, found pod.FoundCheckout, drop []string, how pod.Removal) (is bool, left []string, err error) {
	if drop, err = checkout.Dropped(drop); err != nil {
		return false, nil, err
	}
	r, err := c.all.Trashed(found.Pod)
	if found.Dir != "" {
		r, err = c.at(found)
	}
	if err != nil || r == nil {
		return false, nil, err
	}
	do := c.all.Remove
	switch {
	case how == pod.ForGood:
		do = c.all.Purge
	case how == pod.Looks:
		do = c.all.Left
	}
	all, err := do(ctx, r, drop)
	for _, l := range all {
		left = append(left, l.What+" "+l.Name)
	}
	return true, left, err
}

// Land moves a branch of the person's; see [pod.Checkouts].
func (c *Checkouts) Land(ctx context.Context, found pod.FoundCheckout, into, message string) (pod.Landed, error) {
	r, err := c.at(found)
	if err != nil {
		return pod.Landed{}, err
	}
	out, err := c.all.Land(ctx, r, into, message)
	return pod.Landed{
		Branch: out.Branch, Old: out.Old, New: out.New, Dir: out.Tree, Committed: out.Committed, Merged: out.Merged,
		Commits: out.Commits, Subject: out.Subject, Says: out.Says,
	}, err
}

// at is the record of a checkout.
func (c *Checkouts) at(found pod.FoundCheckout) (*checkout.Record, error) {
	r, err := c.all.Of(found.Dir)
	switch {
	case err == nil && r == nil:
		err = errors.New("the checkout " + found.Dir + " is gone")
	case err == nil && r.URL != "":
		err = item.Errorf(item.KindPrecondition, "IN_CLONE", "an earlier podd cloned %s for this pod: push its work with git -C %s push %s, and remove the directory yourself", r.URL, sanitize.Word(r.Dir()), sanitize.Word(r.URL))
	}
	return r, err
}

// Return brings a checkout back; see [pod.Checkouts].
func (c *Checkouts) Return(ctx context.Context, id string) error {
	r, err := c.all.Trashed(id)
	if err != nil || r == nil {
		return err
	}
	return c.all.Return(ctx, r)
}

// checkoutTrash is how long a removed checkout can be brought back.
const checkoutTrash = 14 * 24 * time.Hour

// Sweep removes for good what was in the trash for long; see [pod.Checkouts].
func (c *Checkouts) Sweep(ctx context.Context) error { return c.all.Sweep(ctx, checkoutTrash) }
