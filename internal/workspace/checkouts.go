package workspace

import (
	"context"
	"slices"

	"podd/internal/files"
	"podd/internal/guard/sandbox"
	"podd/internal/workspace/checkout"
	"podd/pkg/item"
)

// Checkouts make the checkouts of pods; nil if these workspaces have none.
func (all *Workspaces) Checkouts() *checkout.Checkouts { return all.checkouts }

// Stores keep what files were; nil if these workspaces keep nothing.
func (all *Workspaces) Stores() *files.Stores { return all.stores }

func openCheckouts(c Config) *checkout.Checkouts {
	box, refuses := c.Shell.Sandbox, ""
	if fate := box.Fate(); fate != sandbox.Confined && fate != sandbox.Run {
		refuses = "podd runs git for checkouts in a sandbox, and none works here (" + box.Why() + "): install bubblewrap, or set [sandbox] mode to off"
	}
	return checkout.New(checkout.Config{
		Dir: c.CheckoutDir, Environ: c.Shell.Environ, Home: c.Home, Logger: c.Logger, Now: c.Now, Refuses: refuses, Hides: box.Hides,
		Confine: box.Confine,
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
