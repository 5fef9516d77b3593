package files

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"podd/pkg/item"
)

// byDir are consecutive checkpoints by their directory, in the order in which these come first.
func byDir(all []item.Checkpoint) (dirs []string, of map[string][]item.Checkpoint) {
	of = make(map[string][]item.Checkpoint)
	for _, k := range all {
		if _, known := of[k.Dir]; !known {
			dirs = append(dirs, k.Dir)
		}
		of[k.Dir] = append(of[k.Dir], k)
	}
	return dirs, of
}

// with calls fn with the checkpoints of a directory.
func (w *Files) with(dir string, fn func(w *Workspace) error) error {
	files := w.Stores.Of(dir)
	return errors.Join(fn(files), files.Rest())
}

// undo is a plan for several directories.
type undo struct {
	all  *Files
	dirs []string
	// steps are all of them, todo those that change something now.
	steps, todo map[string][]Step
	// reaches are the paths that change, and those that need no change any more. conflicts stay as they are.
	reaches   []string
	conflicts []Conflict
}

// plan says what it takes to take back the agent's changes of consecutive checkpoints, as the files are now. With merge
// it merges texts that somebody changed since.
func (w *Files) plan(ctx context.Context, line []item.Checkpoint, merge bool) (*undo, error) {
	u := &undo{all: w, steps: make(map[string][]Step), todo: make(map[string][]Step)}
	dirs, of := byDir(line)
	for _, dir := range dirs {
		err := w.with(dir, func(w *Workspace) error {
			steps, err := w.Steps(of[dir])
			if err != nil {
				return err
			}
			for i := range steps {
				steps[i].Merge = merge
			}
			todo, conflicts, err := w.Plan(ctx, steps)
			for _, s := range steps {
				if !slices.ContainsFunc(conflicts, func(c Conflict) bool { return c.Path == s.Path }) {
					u.reaches = append(u.reaches, filepath.Join(dir, s.Path))
				}
			}
			u.dirs, u.steps[dir], u.todo[dir] = append(u.dirs, dir), steps, todo
			u.conflicts = append(u.conflicts, absolute(dir, conflicts)...)
			if err != nil {
				return err
			}
			return Full(w.Fits(dir, todo))
		})
		if err != nil {
			return nil, err
		}
	}
	return u, nil
}

func absolute(dir string, conflicts []Conflict) (out []Conflict) {
	for _, c := range conflicts {
		out = append(out, Conflict{Path: filepath.Join(dir, c.Path), Why: c.Why})
	}
	return out
}

// paths are those that change.
func (u *undo) paths() (all []string) {
	for _, dir := range u.dirs {
		for _, s := range u.todo[dir] {
			all = append(all, filepath.Join(dir, s.Path))
		}
	}
	return all
}

// merged are those of them that a merge makes.
func (u *undo) merged() (all []string) {
	for _, dir := range u.dirs {
		for _, s := range u.todo[dir] {
			if s.Merge {
				all = append(all, filepath.Join(dir, s.Path))
			}
		}
	}
	return all
}

// Undone is what became of files.
type Undone struct {
	// Changed counts the paths that changed. Merged are those of them that also keep what
	// somebody changed since.
	Changed int
	Merged  []string
	// Kept stay as they are. Their paths are absolute.
	Kept []Conflict
}

// do takes the changes back, but those of conflicts. It looks at all paths: a killed restore may have left something
// beside one that has what it should have.
func (u *undo) do(ctx context.Context) (out Undone, err error) {
	for _, dir := range u.dirs {
		err := u.all.with(dir, func(w *Workspace) error {
			done, err := w.Restore(ctx, u.steps[dir])
			out.Changed += len(done.Paths)
			out.Kept = append(out.Kept, absolute(dir, done.Conflicts)...)
			for _, rel := range done.Merged {
				out.Merged = append(out.Merged, filepath.Join(dir, rel))
			}
			return err
		})
		if err != nil {
			return out, Full(err)
		}
	}
	return out, nil
}
