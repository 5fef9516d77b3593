package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/worker"
)

// Covered are the directories of a pod that have checkpoints: those it may write, without the
// ones that lie in another.
func Covered(spec item.PodSpec) (dirs []string) {
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

// Saver takes the checkpoints of one turn. Its methods may be called from any goroutine.
type Saver struct {
	// Stores keep them; Pod says whose they are.
	Stores *Stores
	Pod    string
	// Dirs are the directories: see Covered.
	Dirs []string
	// Held are the directories in which tools work, by their paths.
	Held map[string]os.FileInfo
	// Leaving is called before the turn ends; nil does nothing.
	Leaving func(ctx context.Context) string

	mu   sync.Mutex
	open map[string]*Workspace
}

var _ worker.Checkpoints = (*Saver)(nil)

// of is the checkpoints of a directory, which stay in memory until Close.
func (s *Saver) of(dir string) *Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.open[dir]
	if w == nil {
		w = s.Stores.Of(dir)
		if s.open == nil {
			s.open = make(map[string]*Workspace)
		}
		s.open[dir] = w
	}
	return w
}

// Close drops what is in memory.
func (s *Saver) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.open {
		err = errors.Join(err, w.Rest())
	}
	clear(s.open)
	return err
}

// Take takes the checkpoints that are due; see [worker.Checkpoints].
func (s *Saver) Take(ctx context.Context, at fold.Files, c worker.Changes) ([]item.Checkpoint, error) {
	look := Look{Agent: c.Agent, Paths: c.Paths, Named: c.Named, Message: fmt.Sprintf("turn %d, step %d", c.Turn, c.Step)}
	return s.take(ctx, at, look)
}

// Leave brings the pod's commits to the person; see [worker.Checkpoints].
func (s *Saver) Leave(ctx context.Context) string {
	if s.Leaving == nil {
		return ""
	}
	return s.Leaving(ctx)
}

func (s *Saver) take(ctx context.Context, at fold.Files, look Look) (out []item.Checkpoint, err error) {
	var replaced error
	for _, dir := range s.Dirs {
		look.After, look.Branch, look.Held = at.At(dir), s.Pod, s.Held[dir]
		taken, err := s.of(dir).Take(ctx, look)
		if errors.Is(err, ErrUnknown) {
			// The repository was removed: start a new one.
			look.After = ""
			taken, err = s.of(dir).Take(ctx, look)
		}
		if errors.Is(err, ErrReplaced) {
			replaced = err
			continue
		}
		if err != nil {
			return nil, Full(err)
		}
		out = append(out, taken...)
	}
	return out, replaced
}
