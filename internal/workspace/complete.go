package workspace

import (
	"context"
	"errors"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// completeTime bounds the search for completions: a person waits for them at a keyboard.
const completeTime = 300 * time.Millisecond

// Complete completes the text after an @ with paths of the pod's scope, as
// [scopefs.FS.Complete] does, except for those that rules deny or ask about. It cuts a long
// search short.
func (w *Workspace) Complete(ctx context.Context, prefix string, limit int) ([]string, error) {
	dir, err := w.opened()
	if err != nil {
		return nil, err
	}
	listing := dir.listings.current(ctx, dir.fs)
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	found, err := w.referenced(dir.fs).Complete(ctx, listing, prefix, limit)
	if e, ok := errors.AsType[*scopefs.PathError](err); ok {
		return nil, item.Errorf(item.KindPrecondition, "BAD_PATH", "%s", e)
	}
	return found, err
}

const (
	// listTime bounds the reading of a scope, and listKept is how long podd then uses what it
	// read: somebody who types asks with each letter.
	listTime = 2 * time.Second
	listKept = 5 * time.Second
)

// listings keeps the last listing of a scope for a while.
type listings struct {
	mu   sync.Mutex
	last *scopefs.Listing
}

// current is a listing that is at most a few seconds old. Those who wait for one share it.
func (l *listings) current(ctx context.Context, fs *scopefs.FS) *scopefs.Listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		return l.last
	}
	within, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	read := fs.List(within)
	if ctx.Err() == nil {
		l.last = read
		time.AfterFunc(listKept, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.last = nil
		})
	}
	return read
}
