package files

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/tools/builtin"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Change is the change of one path.
type Change struct {
	// Path is absolute.
	Path string
	// By is the agent, or a person.
	By item.CheckpointBy
	// Before and After are "file", "link", "dir" or empty; Mode says how permissions changed,
	// as "644 -> 755", empty if they did not.
	Before, After, Mode string
	// Added and Removed count lines. Diff is unified, without names; empty for binary and for
	// large files.
	Added, Removed int
	Diff           string
}

// Shown says which changes of files are shown.
type Shown struct {
	// Turn is the turn; 0 means what Files would take back, After all changes after an entry.
	Turn  int64
	After item.Seq
	// Paths restricts the changes to these files and directories; absolute, or relative to the
	// pod's directory.
	Paths []string
}

// Diff passes changes of files to fn. It needs no lock on the pod, which may run.
func (w *Files) Diff(ctx context.Context, idOrName string, s Shown, fn func(Change) error) error {
	rec, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return err
	}
	return attend(ctx, w.Host, rec, fn, func(ctx context.Context, give func(Change) error) error { return w.diff(ctx, rec, s, give) })
}

// attend lets work read a pod's files until they do not answer, and passes what it gives to take while ctx lasts.
func attend[T any](ctx context.Context, h *pod.Host, rec item.Pod, take func(T) error, work func(ctx context.Context, give func(T) error) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	given := make(chan T)
	ended := make(chan error, 1)
	go func() {
		ended <- pod.Attend(within, h, pod.Touched(rec.Spec), func(ctx context.Context) error {
			return work(ctx, func(v T) error {
				select {
				case given <- v:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		})
	}()
	var failed error
	for {
		select {
		case v := <-given:
			if failed = take(v); failed != nil {
				cancel(failed)
			}
		case err := <-ended:
			return cmp.Or(failed, err)
		}
	}
}

// diff passes changes of files to fn.
func (w *Files) diff(ctx context.Context, rec item.Pod, s Shown, fn func(Change) error) (err error) {
	if w.Stores == nil {
		return noFiles(rec.Name)
	}
	after := s.After
	switch {
	case s.Turn > rec.Status.Turn:
		return noTurn(rec, s.Turn)
	case s.Turn > 0:
		after = 0
	case after == 0:
		f, err := w.Host.Logs.Fold(ctx, rec.ID)
		if err != nil {
			return err
		}
		if after = f.State.Files.Since; after == 0 {
			return noFiles(rec.Name)
		}
	}
	line, err := w.checkpoints(ctx, rec, after, func(e item.Entry) bool { return s.Turn == 0 || e.Turn == s.Turn })
	if err == nil {
		err = w.here(rec.Name, line, "look at them")
	}
	if err != nil {
		return err
	}
	return w.changes(ctx, rec, s, line, fn)
}

// changes passes the wanted changes of files to fn.
func (w *Files) changes(ctx context.Context, rec item.Pod, s Shown, line []item.Checkpoint, fn func(Change) error) error {
	wanted := make([]string, len(s.Paths))
	for i, p := range s.Paths {
		wanted[i] = p
		if !filepath.IsAbs(p) {
			wanted[i] = filepath.Join(rec.Spec.Dir, p)
		}
	}
	err := w.each(ctx, line, func(c Change) error {
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(p string) bool { return c.Path == p || strings.HasPrefix(c.Path, strings.TrimSuffix(p, "/")+"/") }) {
			return nil
		}
		return fn(c)
	})
	if err != nil && ctx.Err() == nil {
		return failed(rec, err)
	}
	return err
}

// each passes the changes of consecutive checkpoints to fn, in the order of their paths: those of the agent first.
func (w *Files) each(ctx context.Context, line []item.Checkpoint, fn func(Change) error) error {
	dirs, of := byDir(line)
	for _, by := range []item.CheckpointBy{item.ByAgent, item.ByPerson} {
		for _, dir := range dirs {
			err := w.with(dir, func(w *Workspace) error { return changesIn(ctx, w, dir, of[dir], by, fn) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// changesIn passes the changes that one side made in a directory to fn.
func changesIn(ctx context.Context, w *Workspace, dir string, line []item.Checkpoint, by item.CheckpointBy, fn func(Change) error) error {
	steps, err := w.Changes(line, by)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		change, err := changeOf(w, dir, s, by)
		if err == nil {
			err = fn(change)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changeOf describes a change, in the direction in which it was made.
func changeOf(w *Workspace, dir string, s Step, by item.CheckpointBy) (Change, error) {
	out := Change{Path: filepath.Join(dir, s.Path), By: by, Before: kindOf(s.Want), After: kindOf(s.Left)}
	if out.Before == out.After && out.Before != "link" && s.Want.Perm() != s.Left.Perm() {
		out.Mode = fmt.Sprintf("%o -> %o", s.Want.Perm(), s.Left.Perm())
	}
	if out.Before == "dir" || out.After == "dir" || s.Want.Hash == s.Left.Hash {
		return out, nil
	}
	before, err := textOf(w, s.Want)
	if err != nil {
		return out, err
	}
	after, err := textOf(w, s.Left)
	if err != nil {
		return out, err
	}
	if !strings.Contains(before+after, "\x00") {
		out.Added, out.Removed, out.Diff = builtin.Diff(before, after)
	}
	return out, nil
}

func kindOf(f File) string {
	switch {
	case !f.Exists():
		return ""
	case f.IsDir():
		return "dir"
	case f.IsLink():
		return "link"
	}
	return "file"
}

func textOf(w *Workspace, f File) (string, error) {
	if !f.Exists() {
		return "", nil
	}
	data, err := w.Read(f)
	return string(data), err
}

// ToolsOnly are the directories of a pod whose last checkpoint covers only the files that tools
// named.
func (w *Files) ToolsOnly(ctx context.Context, rec item.Pod) (dirs []string, err error) {
	f, err := w.Host.Logs.Fold(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	for _, k := range f.State.Files.Last {
		if k.Partial {
			dirs = append(dirs, k.Dir)
		}
	}
	return dirs, nil
}

// LeftOut names paths of a pod that no checkpoint has, at most a thousand of a directory.
func (w *Files) LeftOut(ctx context.Context, idOrName string) (paths []string, err error) {
	rec, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil || w.Stores == nil {
		return nil, err
	}
	take := func(path string) error { paths = append(paths, path); return nil }
	err = attend(ctx, w.Host, rec, take, func(ctx context.Context, give func(string) error) error {
		for _, dir := range Covered(rec.Spec) {
			err := w.with(dir, func(w *Workspace) error { return leftOutIn(ctx, w, dir, give) })
			if err != nil {
				return failed(rec, err)
			}
		}
		return nil
	})
	return paths, err
}

// leftOutIn passes the paths of a directory that no checkpoint has to give.
func leftOutIn(ctx context.Context, w *Workspace, dir string, give func(string) error) error {
	left, err := w.LeftOut(ctx)
	for _, rel := range left {
		path := filepath.Join(dir, rel)
		if strings.HasSuffix(rel, "/") {
			path += "/"
		}
		if err := give(path); err != nil {
			return err
		}
	}
	return err
}

func noFiles(name string) error {
	return item.Errorf(item.KindPrecondition, "NO_CHANGES", "pod %s has no changes of files that podd can take back", name)
}

// noTurn is the error for a turn that a pod has not had.
func noTurn(rec item.Pod, turn int64) error {
	last := fmt.Sprintf("its last one is turn %d", rec.Status.Turn)
	if rec.Status.Turn == 0 {
		last = "it has had none yet"
	}
	return item.Errorf(item.KindNotFound, "TURN_NOT_FOUND", "pod %s has no turn %d: %s", rec.Name, turn, last)
}
