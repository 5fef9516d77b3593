package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"podd/internal/workspace/checkout"
	"podd/internal/workspace/checkpoint"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Why an apply leaves a file of the person's.
const (
	whyMine     = "is not what the pod began with"
	whyFiltered = "is stored by git through a filter, such as that of git-lfs or git-crypt, which podd does not run"
)

// begun keeps the files with which a checkout begins: an apply compares the person's with them.
func (c *Checkouts) begun(ctx context.Context, r *checkout.Record) error {
	if c.stores == nil {
		return nil
	}
	w := c.stores.Of(r.Dir())
	taken, err := w.Take(ctx, checkpoint.Look{Branch: branchOf(r), Message: "checkout"})
	if len(taken) > 0 {
		r.Applied = taken[len(taken)-1].Commit
	}
	return errors.Join(noSpace(err), w.Rest())
}

// branchOf is where git finds the checkpoints that an apply needs.
func branchOf(r *checkout.Record) string { return "checkout-" + r.Name }

// application is what one apply is about.
type application struct {
	c *Checkouts
	r *checkout.Record
	// from are the checkpoints of the checkout, to those of the person's directory.
	from, to *checkpoint.Workspace
	// now is the checkpoint of the checkout's files as they are, steps what changed since the last
	// apply, ignored what of that git ignores.
	now            string
	steps, ignored []checkpoint.Step
}

// Apply makes the person's files what a checkout's are; see [pod.Checkouts].
func (c *Checkouts) Apply(ctx context.Context, found pod.FoundCheckout, skip, dry bool) (out pod.Applied, err error) {
	r, err := c.at(found)
	if err != nil {
		return out, err
	}
	err = c.all.With(r, func(r *checkout.Record) error {
		out.Dir = r.Source
		if c.stores == nil || r.Applied == "" {
			return item.Errorf(item.KindPrecondition, "NO_CHECKPOINT", "podd has not kept the files with which the checkout %s began: use podctl land", r.Dir())
		}
		a := &application{c: c, r: r, from: c.stores.Of(r.Dir()), to: c.stores.Of(r.Source)}
		err := a.look(ctx)
		if err == nil {
			err = a.do(ctx, &out, skip, dry)
		}
		return errors.Join(noSpace(err), a.from.Rest(), a.to.Rest())
	})
	return out, err
}

// look finds out what changed in the checkout.
func (a *application) look(ctx context.Context) error {
	taken, err := a.from.Take(ctx, checkpoint.Look{After: a.r.Applied, Branch: branchOf(a.r), Message: "apply"})
	if err != nil {
		return err
	}
	a.now = a.r.Applied
	for _, t := range taken {
		if a.now = t.Commit; t.Partial {
			return item.Errorf(item.KindPrecondition, "TOO_LARGE", "the checkout %s has too many files for this: use podctl land", a.r.Dir())
		}
	}
	all, err := a.from.Between(a.r.Applied, a.now)
	if err != nil {
		return err
	}
	paths := make([]string, len(all))
	for i, s := range all {
		paths[i] = s.Path
	}
	ignored, err := a.c.all.Ignored(ctx, a.r, paths)
	for _, s := range all {
		if ignored[s.Path] {
			a.ignored = append(a.ignored, s)
		} else {
			a.steps = append(a.steps, s)
		}
	}
	return err
}

// do changes the person's files.
func (a *application) do(ctx context.Context, out *pod.Applied, skip, dry bool) error {
	todo, conflicts, err := a.to.Plan(ctx, a.steps)
	if err != nil {
		return err
	}
	kept := make(map[string]bool)
	keep := func(path, why string) {
		if !kept[path] {
			out.Kept = append(out.Kept, pod.FileConflict{Path: filepath.Join(a.r.Source, path), Why: why})
		}
		kept[path] = true
	}
	filtered, err := a.filtered(ctx)
	if err != nil {
		return err
	}
	for _, path := range filtered {
		keep(path, whyFiltered)
	}
	for _, k := range conflicts {
		keep(k.Path, whyMine)
	}
	todo = slices.DeleteFunc(todo, func(s checkpoint.Step) bool { return kept[s.Path] })
	if err := fits(a.r.Source, todo, a.from); err != nil {
		return err
	}
	if dry {
		for _, s := range todo {
			out.Paths = append(out.Paths, filepath.Join(a.r.Source, s.Path))
		}
		return nil
	}
	if len(out.Kept) > 0 && !skip {
		return nil // The caller refuses.
	}
	if err := a.to.Bring(a.from, todo); err != nil {
		return err
	}
	left := func(s checkpoint.Step) bool { return kept[s.Path] }
	done, err := a.to.Restore(ctx, slices.DeleteFunc(slices.Clone(a.steps), left))
	for _, path := range done.Paths {
		out.Paths = append(out.Paths, filepath.Join(a.r.Source, path))
	}
	if err != nil {
		return err
	}
	for _, k := range done.Conflicts {
		keep(k.Path, whyMine)
	}
	// What stays is compared with what it was again next time.
	stay := slices.DeleteFunc(slices.Clone(a.steps), func(s checkpoint.Step) bool { return !kept[s.Path] })
	if a.r.Applied, err = a.from.Except(a.now, branchOf(a.r), append(stay, a.ignored...)); err != nil {
		return err
	}
	return a.r.Save()
}

// fits says why steps cannot be made in a directory; from has the bytes that they want.
func fits(dir string, steps []checkpoint.Step, from *checkpoint.Workspace) error {
	return checkpoint.Fits(dir, steps, func(s checkpoint.Step) (int64, error) {
		data, err := from.Read(s.Want)
		return int64(len(data)), err
	})
}

// filtered are the paths that an apply would write past a filter of git's.
func (a *application) filtered(ctx context.Context) ([]string, error) {
	var paths []string
	for _, s := range a.steps {
		if s.Want.Exists() && !s.Want.IsDir() {
			paths = append(paths, s.Path)
		}
	}
	return a.c.all.Filtered(ctx, a.r, paths)
}

// applied are the checkpoints that checkouts need, by directory.
func applied(all *checkout.Checkouts) (map[string][]string, error) {
	if all == nil {
		return nil, nil
	}
	needed, err := all.Applied()
	out := make(map[string][]string)
	for dir, commit := range needed {
		out[dir] = []string{commit}
	}
	return out, err
}
