package worker

import "context"

// apart looks into the workspace in a goroutine of its own, so that a cancelled turn need not wait for a file system
// that does not answer. ok is false if ctx ended first. Then nobody reads what look finds, so look writes nothing
// but its result.
func apart[T any](ctx context.Context, w *Worker, look func() T) (found T, ok bool) {
	type seen struct {
		found    T
		panicked any
	}
	answered := make(chan seen, 1)
	began := w.Apart(func() {
		var s seen
		defer func() {
			s.panicked = recover()
			answered <- s
		}()
		s.found = look()
	})
	if !began {
		return look(), true
	}
	select {
	case s := <-answered:
		if s.panicked != nil {
			panic(s.panicked)
		}
		return s.found, true
	case <-ctx.Done():
		return found, false
	}
}
