package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/workspace/checkout"
	"podd/internal/workspace/checkpoint"
	"podd/internal/workspace/git"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool/builtin"
	"podd/pkg/worker"
)

// Checkpoints are those of all pods.
type Checkpoints struct {
	stores *checkpoint.Stores
	// checkouts need checkpoints of their own; nil for none.
	checkouts *checkout.Checkouts
	// node has them; empty if one podd has all pods.
	node string
}

var _ pod.Files = (*Checkpoints)(nil)

// Checkpoints are those of the workspaces; nil if they have none.
func (all *Workspaces) Checkpoints() pod.Files {
	if all.stores == nil {
		return nil
	}
	return &Checkpoints{stores: all.stores, checkouts: all.checkouts, node: all.Node}
}

// covered are the directories of a pod that have checkpoints: those it may write, without the
// ones that lie in another.
func covered(spec item.PodSpec) (dirs []string) {
	all := spec.Writable()
	for i, dir := range all {
		if !slices.ContainsFunc(all, func(other string) bool { return other != dir && inside(dir, other) }) && !slices.Contains(all[:i], dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// saver takes the checkpoints of one turn.
type saver struct {
	stores    *checkpoint.Stores
	pod, node string
	dirs      []string
	// held are the directories in which tools work, by their paths.
	held map[string]os.FileInfo
	// leaving is called before the turn ends; nil does nothing.
	leaving func(ctx context.Context) string

	mu   sync.Mutex
	open map[string]*checkpoint.Workspace
}

// of is the checkpoints of a directory, which stay in memory until close.
func (s *saver) of(dir string) *checkpoint.Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.open[dir]
	if w == nil {
		w = s.stores.Of(dir)
		s.open[dir] = w
	}
	return w
}

// close drops what is in memory.
func (s *saver) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.open {
		err = errors.Join(err, w.Rest())
	}
	clear(s.open)
	return err
}

// Take takes the checkpoints that are due; see [worker.Checkpoints].
func (s *saver) Take(ctx context.Context, at fold.Files, c worker.Changes) ([]item.Checkpoint, error) {
	look := checkpoint.Look{Agent: c.Agent, Paths: c.Paths, Named: c.Named, Message: fmt.Sprintf("turn %d, step %d", c.Turn, c.Step)}
	return s.take(ctx, at, look)
}

// Leave brings the pod's commits to the person; see [worker.Checkpoints].
func (s *saver) Leave(ctx context.Context) string {
	if s.leaving == nil {
		return ""
	}
	return s.leaving(ctx)
}

func (s *saver) take(ctx context.Context, at fold.Files, look checkpoint.Look) (out []item.Checkpoint, err error) {
	var replaced error
	for _, dir := range s.dirs {
		look.After, look.Branch, look.Held = at.At(dir), s.pod, s.held[dir]
		taken, err := s.of(dir).Take(ctx, look)
		if errors.Is(err, checkpoint.ErrUnknown) {
			// The repository was removed: start a new one.
			look.After = ""
			taken, err = s.of(dir).Take(ctx, look)
		}
		if errors.Is(err, checkpoint.ErrReplaced) {
			replaced = err
			continue
		}
		if err != nil {
			return nil, checkpoint.Full(err)
		}
		for _, t := range taken {
			out = append(out, item.Checkpoint{
				Dir: dir, Commit: t.Commit, Parent: look.After, By: t.By,
				Changed: int64(t.Changed), LeftOut: int64(t.LeftOut), Partial: t.Partial, Node: s.node,
			})
			look.After = t.Commit
		}
	}
	return out, replaced
}

// lines are consecutive checkpoints by their directory, in the order in which these come first.
func lines(all []item.Checkpoint) (dirs []string, of map[string][]checkpoint.Mark) {
	of = make(map[string][]checkpoint.Mark)
	for _, k := range all {
		if k.Commit == k.Parent {
			continue // An earlier version stored here that references of git moved.
		}
		if _, known := of[k.Dir]; !known {
			dirs = append(dirs, k.Dir)
		}
		of[k.Dir] = append(of[k.Dir], checkpoint.Mark{From: k.Parent, To: k.Commit, By: k.By})
	}
	return dirs, of
}

// with calls fn with the checkpoints of a directory.
func (c *Checkpoints) with(dir string, fn func(w *checkpoint.Workspace) error) error {
	w := c.stores.Of(dir)
	return errors.Join(fn(w), w.Rest())
}

// undo is a plan for several directories.
type undo struct {
	all  *Checkpoints
	dirs []string
	// steps are all of them, todo those that change something now.
	steps, todo map[string][]checkpoint.Step
	reaches     []string
	conflicts   []pod.FileConflict
}

// Undo plans to take changes back; see [pod.Files].
func (c *Checkpoints) Undo(ctx context.Context, line []item.Checkpoint, merge bool) (pod.Undo, error) {
	u := &undo{all: c, steps: make(map[string][]checkpoint.Step), todo: make(map[string][]checkpoint.Step)}
	dirs, of := lines(line)
	for _, dir := range dirs {
		err := c.with(dir, func(w *checkpoint.Workspace) error {
			steps, err := w.Steps(of[dir])
			if err != nil {
				return err
			}
			for i := range steps {
				steps[i].Merge = merge
			}
			todo, conflicts, err := w.Plan(ctx, steps)
			for _, s := range steps {
				if !slices.ContainsFunc(conflicts, func(c checkpoint.Conflict) bool { return c.Path == s.Path }) {
					u.reaches = append(u.reaches, filepath.Join(dir, s.Path))
				}
			}
			u.dirs, u.steps[dir], u.todo[dir] = append(u.dirs, dir), steps, todo
			u.conflicts = append(u.conflicts, absolute(dir, conflicts)...)
			if err != nil {
				return err
			}
			return checkpoint.Full(w.Fits(dir, todo))
		})
		if err != nil {
			return nil, err
		}
	}
	return u, nil
}

func absolute(dir string, conflicts []checkpoint.Conflict) (out []pod.FileConflict) {
	for _, c := range conflicts {
		out = append(out, pod.FileConflict{Path: filepath.Join(dir, c.Path), Why: c.Why})
	}
	return out
}

// Paths are those that change.
func (u *undo) Paths() (paths []string) {
	for _, dir := range u.dirs {
		for _, s := range u.todo[dir] {
			paths = append(paths, filepath.Join(dir, s.Path))
		}
	}
	return paths
}

// Merged are those of them that a merge makes.
func (u *undo) Merged() (paths []string) {
	for _, dir := range u.dirs {
		for _, s := range u.todo[dir] {
			if s.Merge {
				paths = append(paths, filepath.Join(dir, s.Path))
			}
		}
	}
	return paths
}

// Reaches are those that change, and those that need no change any more.
func (u *undo) Reaches() []string { return u.reaches }

// Conflicts stay as they are.
func (u *undo) Conflicts() []pod.FileConflict { return u.conflicts }

// Do takes the changes back. It looks at all paths: a killed restore may have left something
// beside one that has what it should have.
func (u *undo) Do(ctx context.Context) (out pod.Undone, err error) {
	for _, dir := range u.dirs {
		err := u.all.with(dir, func(w *checkpoint.Workspace) error {
			done, err := w.Restore(ctx, u.steps[dir])
			out.Changed += len(done.Paths)
			out.Kept = append(out.Kept, absolute(dir, done.Conflicts)...)
			for _, rel := range done.Merged {
				out.Merged = append(out.Merged, filepath.Join(dir, rel))
			}
			return err
		})
		if err != nil {
			return out, checkpoint.Full(err)
		}
	}
	return out, nil
}

// Restored takes the checkpoints after a restore of some paths.
func (c *Checkpoints) Restored(ctx context.Context, p item.Pod, at fold.Files, paths []string) (out []item.Checkpoint, err error) {
	s := &saver{stores: c.stores, pod: p.ID, node: c.node, dirs: known(covered(p.Spec), at), open: make(map[string]*checkpoint.Workspace)}
	out, err = s.take(ctx, at, checkpoint.Look{Restored: true, Paths: paths, Message: "restore"})
	return out, errors.Join(err, s.close())
}

// known are the directories that have a checkpoint.
func known(dirs []string, at fold.Files) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool { return at.At(dir) == "" })
}

// HeadMoved says whether HEAD moved since a moment; see [pod.Files].
func (c *Checkpoints) HeadMoved(dir string, since time.Time) bool { return git.HeadMoved(dir, since) }

// Changes passes the changes of checkpoints to fn; see [pod.Files].
func (c *Checkpoints) Changes(ctx context.Context, line []item.Checkpoint, fn func(pod.FileChange) error) error {
	dirs, of := lines(line)
	for _, by := range []item.CheckpointBy{item.ByAgent, item.ByPerson} {
		for _, dir := range dirs {
			err := c.with(dir, func(w *checkpoint.Workspace) error { return changesIn(ctx, w, dir, of[dir], by, fn) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// changesIn passes the changes that one side made in a directory to fn.
func changesIn(ctx context.Context, w *checkpoint.Workspace, dir string, line []checkpoint.Mark, by item.CheckpointBy, fn func(pod.FileChange) error) error {
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
func changeOf(w *checkpoint.Workspace, dir string, s checkpoint.Step, by item.CheckpointBy) (pod.FileChange, error) {
	out := pod.FileChange{Path: filepath.Join(dir, s.Path), By: by, Before: kindOf(s.Want), After: kindOf(s.Left)}
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

func kindOf(f checkpoint.File) string {
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

func textOf(w *checkpoint.Workspace, f checkpoint.File) (string, error) {
	if !f.Exists() {
		return "", nil
	}
	data, err := w.Read(f)
	return string(data), err
}

// Collect frees the space of unneeded checkpoints; see [pod.Files].
func (c *Checkpoints) Collect(ctx context.Context, keep, always map[string][]string, since time.Time) error {
	need := make(map[string]checkpoint.Needed)
	for dir, commits := range keep {
		need[dir] = checkpoint.Needed{Commits: commits, Always: always[dir]}
	}
	if c.checkouts != nil {
		applied, err := c.checkouts.Applied()
		if err != nil {
			return err
		}
		for dir, commit := range applied {
			n := need[dir]
			need[dir] = checkpoint.Needed{Commits: slices.Concat(n.Commits, []string{commit}), Always: slices.Concat(n.Always, []string{commit})}
		}
	}
	return c.stores.Collect(ctx, need, since)
}

// LeftOut names paths that no checkpoint has.
func (c *Checkpoints) LeftOut(ctx context.Context, spec item.PodSpec) (paths []string, err error) {
	for _, dir := range covered(spec) {
		err := c.with(dir, func(w *checkpoint.Workspace) error {
			left, err := w.LeftOut(ctx)
			for _, rel := range left {
				path := filepath.Join(dir, rel)
				if strings.HasSuffix(rel, "/") {
					path += "/"
				}
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}
