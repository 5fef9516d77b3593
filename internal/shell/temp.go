package shell

import (
	"context"
	"errors"
	"os"
	"time"

	"podd/pkg/tool/scratch"
)

// The private /tmp of a pod and the cache of its workspace are on the disk of podd's own files,
// which all pods need.

// share makes the command use the cache of its workspace, unless it only reads that; nil if it
// has one of its own in /tmp. Close the directory after the start.
func (r *run) share(ctx context.Context) *os.File {
	workspace := r.FS.Roots()[0]
	if r.Caches == nil || r.call.Plan || !workspace.Writable {
		return nil
	}
	dir, err := workspace.Open()
	if err != nil {
		return nil // The command fails by it.
	}
	defer dir.Close()
	cache, file, err := r.Caches.Use(workspace.Path, dir)
	if err != nil {
		r.Logger.Warn("the cache of a workspace cannot be used: the command caches in its /tmp", "tool", "shell", "error", err)
		return nil
	}
	r.cache = cache
	r.makeRoom(ctx, cache.Dir)
	return file
}

// cacheName is the name of the shared cache; empty without one.
func (r *run) cacheName() string {
	if r.cache == nil {
		return ""
	}
	return r.cache.Name
}

// makeRoom empties a directory if it uses more than the disk has left, before a command
// begins that did not fill it.
func (s *Runner) makeRoom(ctx context.Context, dir *scratch.Dir) {
	if !s.confines() {
		return
	}
	_, err := dir.Check(ctx, nil)
	if full, over := errors.AsType[*scratch.FullError](err); over {
		s.empty(full)
	}
}

func (s *Runner) empty(full *scratch.FullError) {
	s.Logger.Warn("files that commands left are removed", "tool", "shell", "dir", full.Dir.Path, "reason", full.Error())
	if err := full.Dir.Empty(); err != nil {
		s.Logger.Warn("files that commands left could not be removed", "tool", "shell", "error", err)
	}
}

// tempPatience is the pause after a check that failed.
const tempPatience = time.Second

// fills are the directories on the disk of podd's own files that the command can fill.
func (r *run) fills() []*scratch.Dir {
	if !r.boxed(r.args) {
		return nil
	}
	dirs := []*scratch.Dir{r.Spool.Temp()}
	if r.cache != nil {
		dirs = append(dirs, r.cache.Dir)
	}
	return dirs
}

// checkDir is a scratch.FullError if a directory uses more than the disk has left. Otherwise it
// says when to check again.
func (r *run) checkDir(ctx context.Context, dir *scratch.Dir) (next time.Duration, err error) {
	next, err = dir.Check(ctx, func(device uint64) scratch.Usage {
		bytes, files := r.tree.Deleted(device)
		return scratch.Usage{Bytes: bytes, Files: files}
	})
	if _, over := errors.AsType[*scratch.FullError](err); err != nil && !over {
		return tempPatience, nil // It is unknown, or ctx has ended.
	}
	return next, err
}

// checkTemp checks all that the command can fill.
func (r *run) checkTemp(ctx context.Context) (next time.Duration, err error) {
	next = time.Hour
	for _, dir := range r.fills() {
		soon, err := r.checkDir(ctx, dir)
		if err != nil {
			return 0, err
		}
		next = min(next, soon)
	}
	return next, nil
}

// emptyTemp removes what uses more than the disk has left, once nothing of the command runs,
// also what a command left that ended before a check.
func (r *run) emptyTemp(ctx context.Context, why error) {
	for _, dir := range r.fills() {
		full, over := errors.AsType[*scratch.FullError](why)
		if !over || full.Dir != dir {
			_, err := r.checkDir(context.WithoutCancel(ctx), dir)
			if full, over = errors.AsType[*scratch.FullError](err); !over {
				continue
			}
		}
		r.emptied = full
		r.empty(full)
	}
}

// remedy says what to do about files that took too much of the disk.
func (r *run) remedy(why error) string {
	if full, over := errors.AsType[*scratch.FullError](why); over && full.Dir == r.Spool.Temp() {
		return "put large files into the workspace"
	}
	return "make room on the disk of podd's state directory"
}

// greedy says that a command was ended for its use of the machine.
func (r *run) greedy(why error) bool {
	return errors.As(why, new(*greed)) || errors.As(why, new(*scratch.FullError))
}
