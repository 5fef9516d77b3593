package workspace

import (
	"context"
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// completeTime bounds the search for completions: a person waits for them at a keyboard.
const completeTime = 300 * time.Millisecond

// Complete completes the text after an @ with paths of the pod's scope, as
// [scopefs.FS.Complete] does, except for those that rules deny or ask about. It cuts a
// long search short.
func (w *Workspace) Complete(ctx context.Context, prefix string, limit int) ([]string, error) {
	dir, err := w.opened()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	found, err := w.referenced(dir.fs).Complete(ctx, prefix, limit)
	if e, ok := errors.AsType[*scopefs.PathError](err); ok {
		return nil, item.Errorf(item.KindPrecondition, "BAD_PATH", "%s", e)
	}
	return found, err
}
