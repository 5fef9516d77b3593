package pod

import (
	"context"
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// completeTime bounds the search for completions: somebody waits for them at a
// keyboard.
const completeTime = 300 * time.Millisecond

// CompletePath completes what was typed behind an @ with paths of a pod's scope, as
// [scopefs.FS.Complete] says, but for those that rules deny or ask about. A search that takes long is cut short. A directory that
// cannot be read is an [item.Error] with reason BAD_PATH.
func (h *Host) CompletePath(ctx context.Context, idOrName, prefix string, limit int) ([]string, error) {
	a, release, err := h.acquire(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	defer release()
	found, err := visit(ctx, a, func(p place) ([]string, error) {
		ctx, cancel := context.WithTimeout(ctx, completeTime)
		defer cancel()
		return referenced(a, p.work.fs).Complete(ctx, prefix, limit)
	})
	if e, ok := errors.AsType[*scopefs.PathError](err); ok {
		return nil, item.Errorf(item.KindPrecondition, "BAD_PATH", "%s", e)
	}
	return found, err
}
