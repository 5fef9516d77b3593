package builtin

import (
	"context"
	"errors"
	"time"

	"podd/pkg/tool/spool"
)

// The private /tmp of a pod is on the disk of podd's own files, which all pods need.

// makeRoom empties the pod's /tmp if it uses more than the disk has left, before a
// command begins that did not fill it.
func (s *shell) makeRoom(ctx context.Context) {
	if !s.confines() {
		return
	}
	_, err := s.spool.CheckTemp(ctx, nil)
	if _, over := errors.AsType[*spool.TempError](err); over {
		s.emptyTemp(err)
	}
}

func (s *shell) emptyTemp(why error) {
	s.log.Warn("the temporary files of a pod are removed", "tool", "shell", "reason", why.Error())
	if err := s.spool.EmptyTemp(); err != nil {
		s.log.Warn("temporary files of a pod could not be removed", "tool", "shell", "error", err)
	}
}

// tempPatience is the pause after a check that failed.
const tempPatience = time.Second

// checkTemp is a spool.TempError if the pod's temporary files use more than the disk has
// left. Otherwise it says when to check again.
func (r *shellRun) checkTemp(ctx context.Context) (next time.Duration, err error) {
	if !r.shell.boxed(r.args) {
		return time.Hour, nil
	}
	next, err = r.shell.spool.CheckTemp(ctx, func(device uint64) spool.Usage {
		bytes, files := r.tree.Deleted(device)
		return spool.Usage{Bytes: bytes, Files: files}
	})
	if _, over := errors.AsType[*spool.TempError](err); err != nil && !over {
		return tempPatience, nil // It is unknown, or ctx has ended.
	}
	return next, err
}

// emptyTemp removes temporary files that use more than the disk has left, once nothing of
// the command runs, including those of a command that ended before a check.
func (r *shellRun) emptyTemp(ctx context.Context, why error) {
	if _, over := errors.AsType[*spool.TempError](why); over {
		r.emptied = why
	} else if _, err := r.checkTemp(context.WithoutCancel(ctx)); err != nil {
		r.emptied = err
	}
	if r.emptied != nil {
		r.shell.emptyTemp(r.emptied)
	}
}

// greedy says that a command was ended for its use of the machine.
func (r *shellRun) greedy(why error) bool {
	_, memory := errors.AsType[*memoryError](why)
	_, temp := errors.AsType[*spool.TempError](why)
	_, tasks := errors.AsType[*tasksError](why)
	return memory || temp || tasks
}
