package report

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/pod"
)

// Change is what a watcher learns next.
type Change struct {
	// Pod is a pod that is new or has changed.
	Pod *item.Pod
	// Work is what it works on; nil for a watcher that did not ask.
	Work *Work
	// Removed is the id of a pod that was deleted.
	Removed string
	// Complete says that all pods that there were at the start have been sent.
	Complete bool
}

// watchPause is how long a watcher collects changes.
const watchPause = 200 * time.Millisecond

// Watch sends all pods in the order of their names, then Complete, and then each pod that
// changes, until ctx ends. Changes of one pod in quick succession come as one. With work
// it also says what the pods work on.
func Watch(ctx context.Context, h *pod.Host, work bool) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		w := watcher{host: h, known: make(map[string]watched)}
		if work {
			w.observer = newObserver(h)
		}
		for first := true; ; first = false {
			seen := h.Changes()
			more, err := w.send(ctx, yield)
			if err == nil && more && first {
				more = yield(Change{Complete: true}, nil)
			}
			if err == nil && more {
				err = next(ctx, h, seen, w.observer.next())
			}
			if err != nil {
				yield(Change{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// next waits for a change, at most for within, and then for those that come with it. 0 is
// for ever.
func next(ctx context.Context, h *pod.Host, seen int64, within time.Duration) error {
	either, cancel := context.WithCancel(ctx)
	defer cancel()
	if within > 0 {
		defer time.AfterFunc(within, cancel).Stop()
	}
	if err := h.Changed(either, seen); err != nil && (ctx.Err() != nil || either.Err() == nil) {
		return err
	}
	return wait(ctx, watchPause)
}

// wait waits unless ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watcher knows what it has sent.
type watcher struct {
	host  *pod.Host
	known map[string]watched
	*observer
}

// watched is a pod as it was sent.
type watched struct {
	pod  item.Pod
	work Work
}

// send sends what differs from what is known. more is false when the consumer stops.
func (w *watcher) send(ctx context.Context, yield func(Change, error) bool) (more bool, err error) {
	pods, err := w.host.List(ctx, "")
	if err != nil {
		return false, err
	}
	there := make(map[string]bool, len(pods))
	for i := range pods {
		p := &pods[i]
		there[p.ID] = true
		now := watched{pod: *p}
		change := Change{Pod: p}
		if w.observer != nil {
			if now.work, err = w.look(ctx, *p); err != nil {
				return false, err
			}
			change.Work = &now.work
		}
		if before, ok := w.known[p.ID]; ok && before.work == now.work && reflect.DeepEqual(before.pod, now.pod) {
			continue
		}
		w.known[p.ID] = now
		if !yield(change, nil) {
			return false, nil
		}
	}
	var gone []string
	for id := range w.known {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		delete(w.known, id)
		w.forget(id)
		if !yield(Change{Removed: id}, nil) {
			return false, nil
		}
	}
	return true, nil
}
