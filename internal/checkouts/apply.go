package checkouts

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"podd/internal/files"
	"podd/internal/workspace/checkout"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Why an apply leaves a file of the person's.
const (
	whyMine     = "is not what the pod began with"
	whyFiltered = "is stored by git through a filter, such as that of git-lfs or git-crypt, which podd does not run"
)

// keepFiles keeps the files with which a checkout begins: an apply compares the person's with them.
func (w *Checkouts) keepFiles(ctx context.Context, r *checkout.Record) error {
	if w.Files == nil {
		return nil
	}
	kept := w.Files.Of(r.Dir())
	taken, err := kept.Take(ctx, files.Look{Branch: branchOf(r), Message: "checkout"})
	if len(taken) > 0 {
		r.Applied = taken[len(taken)-1].Commit
	}
	return errors.Join(files.Full(err), kept.Rest())
}

// branchOf is where git finds the checkpoints that an apply needs.
func branchOf(r *checkout.Record) string { return "checkout-" + r.Name }

// application is what one apply is about.
type application struct {
	git *checkout.Checkouts
	r   *checkout.Record
	// from are the checkpoints of the checkout, to those of the person's directory.
	from, to *files.Workspace
	// now is the checkpoint of the checkout's files as they are, steps what changed since the last
	// apply, ignored what of that git ignores.
	now            string
	steps, ignored []files.Step
}

// Applied is what became of the person's files.
type Applied struct {
	// Dir is the person's working tree. Paths are those that changed, or would; Kept stay.
	Dir   string
	Paths []string
	Kept  []files.Conflict
}

// Apply makes the person's files what the pod's are, path by path, while the pod does nothing else. It never
// overwrites what is not what the pod began with: without skip it changes nothing if there is such a file. With dry it
// changes nothing.
func (w *Checkouts) Apply(ctx context.Context, idOrName string, skip, dry bool) (Applied, error) {
	var out Applied
	err := w.alone(ctx, idOrName, "apply it", func(ctx context.Context, p *pod.Idle, r *checkout.Record) error {
		err := w.apply(ctx, r, skip, dry, &out)
		if _, ok := errors.AsType[*item.Error](err); err != nil && !ok {
			err = item.Errorf(item.KindPrecondition, "FILES", "cannot apply the files of pod %s: %v", p.Pod.Name, err)
		}
		return err
	})
	if err != nil {
		return Applied{}, err
	}
	return out, nil
}

func (w *Checkouts) apply(ctx context.Context, r *checkout.Record, skip, dry bool, out *Applied) error {
	err := w.Git.With(r, func(r *checkout.Record) error {
		out.Dir = r.Source
		if w.Files == nil || r.Applied == "" {
			return item.Errorf(item.KindPrecondition, "NO_CHECKPOINT", "podd has not kept the files with which the checkout %s began: use podctl land", r.Dir())
		}
		a := &application{git: w.Git, r: r, from: w.Files.Of(r.Dir()), to: w.Files.Of(r.Source)}
		err := a.look(ctx)
		if err == nil {
			err = a.do(ctx, out, skip, dry)
		}
		return errors.Join(files.Full(err), a.from.Rest(), a.to.Rest())
	})
	if err != nil || len(out.Kept) == 0 || skip || dry {
		return err
	}
	names := make([]string, len(out.Kept))
	for i, k := range out.Kept {
		names[i] = k.Path + " " + k.Why
	}
	return item.Errorf(item.KindPrecondition, "FILES_CHANGED", "nothing was applied: %s; --skip leaves these files as they are", listed(names))
}

// look finds out what changed in the checkout.
func (a *application) look(ctx context.Context) error {
	taken, err := a.from.Take(ctx, files.Look{After: a.r.Applied, Branch: branchOf(a.r), Message: "apply"})
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
	ignored, err := a.git.Ignored(ctx, a.r, paths)
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
func (a *application) do(ctx context.Context, out *Applied, skip, dry bool) error {
	todo, conflicts, err := a.to.Plan(ctx, a.steps)
	if err != nil {
		return err
	}
	kept := make(map[string]bool)
	keep := func(path, why string) {
		if !kept[path] {
			out.Kept = append(out.Kept, files.Conflict{Path: filepath.Join(a.r.Source, path), Why: why})
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
	todo = slices.DeleteFunc(todo, func(s files.Step) bool { return kept[s.Path] })
	if err := a.from.Fits(a.r.Source, todo); err != nil {
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
	left := func(s files.Step) bool { return kept[s.Path] }
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
	stay := slices.DeleteFunc(slices.Clone(a.steps), func(s files.Step) bool { return !kept[s.Path] })
	if a.r.Applied, err = a.from.Except(ctx, a.now, branchOf(a.r), append(stay, a.ignored...)); err != nil {
		return err
	}
	return a.r.Save()
}

// filtered are the paths that an apply would write past a filter of git's.
func (a *application) filtered(ctx context.Context) ([]string, error) {
	var paths []string
	for _, s := range a.steps {
		if s.Want.Exists() && !s.Want.IsDir() {
			paths = append(paths, s.Path)
		}
	}
	return a.git.Filtered(ctx, a.r, paths)
}
