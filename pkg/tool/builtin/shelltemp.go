package builtin

import (
	"context"
	"errors"
	"time"

	"podd/pkg/tool/spool"
)

// The private /tmp of a pod lies on the disk of podd's own files, which all pods need.

// makeRoom removes what is left in the pod's /tmp where that is more than the disk has left,
// before a command that did not make it begins.
func (s *shell) makeRoom(ctx context.Context) {
	if s.box == nil || !s.box.Confines() {
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

// tempPatience is how soon a look follows that failed.
const tempPatience = time.Second

// checkTemp is a spool.TempError when the pod's temporary files take more than the disk has
// left. Else it says when to look again.
func (r *shellRun) checkTemp(ctx context.Context) (next time.Duration, err error) {
	if r.shell.box == nil || !r.shell.box.Confines() {
		return time.Hour, nil
	}
	next, err = r.shell.spool.CheckTemp(ctx, func(device uint64) spool.Usage {
		bytes, files := r.tree.Deleted(device)
		return spool.Usage{Bytes: bytes, Files: files}
	})
	if _, over := errors.AsType[*spool.TempError](err); err != nil && !over {
		return tempPatience, nil // It cannot be told, or ctx has ended.
	}
	return next, err
}

// emptyTemp removes temporary files that take more than the disk has left, once nothing of
// the command runs: also those of one that ended by itself before anybody looked.
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

// greedy says that a command was ended for what it takes of the machine.
func (r *shellRun) greedy(why error) bool {
	_, memory := errors.AsType[*memoryError](why)
	_, temp := errors.AsType[*spool.TempError](why)
	return memory || temp
}
