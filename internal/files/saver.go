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
	// takes counts the running Takes. closed says that the last one drops what is in memory.
	takes  int
	closed bool
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

// Close drops what is in memory, or lets a running Take do so, whose directory may not answer. It waits for neither.
func (s *Saver) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.rest()
}

// rest drops what is in memory once nobody needs it.
func (s *Saver) rest() (err error) {
	if !s.closed || s.takes > 0 {
		return nil
	}
	for _, w := range s.open {
		err = errors.Join(err, w.Rest())
	}
	clear(s.open)
	return err
}

// errClosed is the error of a Take after Close.
var errClosed = errors.New("the turn has ended")

// Take takes the checkpoints that are due; see [worker.Checkpoints].
func (s *Saver) Take(ctx context.Context, at fold.Files, c worker.Changes) ([]item.Checkpoint, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	s.takes++
	s.mu.Unlock()
	look := Look{Agent: c.Agent, Paths: c.Paths, Named: c.Named, Message: fmt.Sprintf("turn %d, step %d", c.Turn, c.Step)}
	out, err := s.take(ctx, at, look)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes--
	return out, errors.Join(err, s.rest())
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
