package storetest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Recorder is a T that records failures instead of reporting them. It shows that a check
// can fail: run the check on a deliberately broken store and look at the notes.
type Recorder struct {
	ctx  context.Context
	name string

	mu       sync.Mutex
	failed   bool
	skipped  bool
	notes    strings.Builder
	cleanups []func()
}

var _ T = (*Recorder)(nil)

// Record runs a check on the stores that open opens and returns once it has ended and
// cleaned up. Notes is empty when it passed.
func Record(ctx context.Context, c Check, open OpenFunc) *Recorder {
	r := &Recorder{ctx: ctx, name: c.Name}
	var wg sync.WaitGroup
	// FailNow ends its goroutine, so the check needs its own.
	wg.Go(func() {
		defer r.cleanup()
		c.Run(r, open)
	})
	wg.Wait()
	return r
}

// Notes are the failures that the check reported; empty when it passed.
func (r *Recorder) Notes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failed {
		return ""
	}
	return r.notes.String()
}

func (r *Recorder) cleanup() {
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		fn := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		fn()
	}
}

func (r *Recorder) note(failed bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || failed
	fmt.Fprintln(&r.notes, strings.TrimSuffix(text, "\n"))
}

// Helper does nothing.
func (r *Recorder) Helper() {}

// Name is the name of the check.
func (r *Recorder) Name() string { return r.name }

// Context is the context that Record received.
func (r *Recorder) Context() context.Context { return r.ctx }

// Cleanup keeps fn for the end of the check; the last one runs first.
func (r *Recorder) Cleanup(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, fn)
}

// Log notes a line.
func (r *Recorder) Log(args ...any) { r.note(false, fmt.Sprintln(args...)) }

// Logf notes a line.
func (r *Recorder) Logf(format string, args ...any) { r.note(false, fmt.Sprintf(format, args...)) }

// Skip ends the check.
func (r *Recorder) Skip(args ...any) { r.Log(args...); r.SkipNow() }

// Skipf ends the check.
func (r *Recorder) Skipf(format string, args ...any) { r.Logf(format, args...); r.SkipNow() }

// SkipNow ends the check.
func (r *Recorder) SkipNow() {
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

// Skipped says whether the check skipped itself because it can't run here.
func (r *Recorder) Skipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}

// Error notes a failure.
func (r *Recorder) Error(args ...any) { r.note(true, fmt.Sprintln(args...)) }

// Errorf notes a failure.
func (r *Recorder) Errorf(format string, args ...any) { r.note(true, fmt.Sprintf(format, args...)) }

// Fatal notes a failure and ends the check.
func (r *Recorder) Fatal(args ...any) { r.Error(args...); r.FailNow() }

// Fatalf notes a failure and ends the check.
func (r *Recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); r.FailNow() }

// Fail notes a failure without a text.
func (r *Recorder) Fail() { r.note(true, "failed") }

// FailNow notes a failure and ends the check.
func (r *Recorder) FailNow() { r.Fail(); runtime.Goexit() }

// Failed says whether a failure was noted.
func (r *Recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}
