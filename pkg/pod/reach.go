package pod

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"podd/pkg/item"
)

// A workspace may be on a file system that does not answer, such as that of an
// unreachable server. A call into it hangs in the kernel, and nothing ends it. So the
// pod's goroutine makes no such call. Each runs in its own goroutine, and the waiting
// side can stop waiting.

var (
	// silentAfter is how long a turn waits for its workspace before the pod says so.
	silentAfter = 5 * time.Second
	// reachTime is how long a client's call waits for a workspace.
	reachTime = 15 * time.Second
)

// maxLooks is how many calls of clients use one workspace at once. Each hanging one needs
// a thread.
const maxLooks = 8

// answer is the result of asking a workspace.
type answer[T any] struct {
	value T
	err   error
}

// reach asks the pod's workspace in its own goroutine, once lane has room. The channel
// gets one answer, unless ask hangs.
func reach[T any](ctx context.Context, a *actor, lane chan struct{}, ask func() (T, error)) <-chan answer[T] {
	answered := make(chan answer[T], 1)
	began := a.host.pods.start(func() {
		var got answer[T]
		select {
		case lane <- struct{}{}:
			got.err = a.contained(func() (err error) {
				got.value, err = ask()
				return err
			})
			<-lane
		case <-ctx.Done():
			got.err = context.Cause(ctx)
		}
		answered <- got
	})
	if !began {
		answered <- answer[T]{err: errStopping}
	}
	return answered
}

var errInternal = item.Errorf(item.KindInternal, "INTERNAL", "internal error in podd: see its log")

// contained turns a panic of a goroutine of the pod, other than its own, into an error.
func (a *actor) contained(work func() error) error { return contained(a.log, work) }

func contained(log *slog.Logger, work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("pod panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	return work()
}

// errSilent ends the call of a client; silent is what the client gets.
var errSilent = errors.New("the workspace does not answer")

// reasonSilent is the reason of the errors of a workspace that does not answer.
const reasonSilent = "WORKSPACE_SILENT"

// silent is the error of a workspace that does not answer.
func silent(dir string) error {
	return item.Errorf(item.KindPrecondition, reasonSilent,
		"the workspace %s does not answer: check its file system, then try again", dir)
}

// unanswered is that of one in which podd is at work.
func unanswered(dir string) error {
	return item.Errorf(item.KindPrecondition, reasonSilent,
		"the workspace %s does not answer: check its file system; what podd began there goes on once it answers", dir)
}

// visit lets a client's call use the pod's workspace. It gives up when ctx ends, or the
// workspace does not answer.
func visit[T any](ctx context.Context, a *actor, look func(context.Context) (T, error)) (T, error) {
	within, cancel := context.WithTimeoutCause(ctx, reachTime, errSilent)
	defer cancel()
	answered := reach(within, a, a.site.lanes.clients, func() (T, error) { return look(within) })
	var got answer[T]
	select {
	case got = <-answered:
	case <-within.Done():
		got.err = context.Cause(within)
	}
	if errors.Is(got.err, errSilent) {
		var dir string
		if got.err = a.mailbox.do(ctx, func() { dir = a.journal.rec.Spec.Dir }); got.err == nil {
			got.err = silent(dir)
		}
	}
	return got.value, got.err
}

// visitors counts the looks of clients into directories, whether or not a pod works there.
type visitors struct {
	mu    sync.Mutex
	looks map[string]int
}

// enter is false if the directory has as many looks as it may have: they hang.
func (v *visitors) enter(dir string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.looks == nil {
		v.looks = make(map[string]int)
	}
	if v.looks[dir] >= maxLooks {
		return false
	}
	v.looks[dir]++
	return true
}

func (v *visitors) leave(dir string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.looks[dir]--; v.looks[dir] == 0 {
		delete(v.looks, dir)
	}
}

// Visit lets a client's call look into a directory. It gives up when ctx ends, or the directory does not answer. Then
// nobody gets what look finds, so look changes nothing.
func Visit[T any](ctx context.Context, h *Host, dir string, look func() (T, error)) (found T, err error) {
	if !h.visitors.enter(dir) {
		return found, silent(dir)
	}
	within, cancel := context.WithTimeoutCause(ctx, reachTime, silent(dir))
	defer cancel()
	answered := make(chan answer[T], 1)
	began := h.pods.start(func() {
		defer h.visitors.leave(dir)
		var got answer[T]
		got.err = contained(h.Logger, func() (err error) {
			got.value, err = look()
			return err
		})
		answered <- got
	})
	if !began {
		h.visitors.leave(dir)
		return found, errStopping
	}
	select {
	case got := <-answered:
		return got.value, got.err
	case <-within.Done():
		return found, context.Cause(within)
	}
}

// Attend lets a client's call read and change files in directories for as long as that takes. It gives up when ctx ends,
// or one of the directories does not answer; the context of work ends then.
func Attend(ctx context.Context, h *Host, dirs []string, work func(context.Context) error) error {
	for _, dir := range dirs {
		if !h.visitors.enter(dir) {
			return silent(dir)
		}
		h.visitors.leave(dir)
	}
	within, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	var failed error
	if !h.pods.start(func() {
		defer close(ended)
		failed = contained(h.Logger, func() error { return work(within) })
	}) {
		cancel(errStopping)
		return errStopping
	}
	err := h.attend(ctx, dirs, ended, silent)
	cancel(err)
	if err != nil {
		return err
	}
	return failed
}

// attend waits until work on directories has ended. An error says why it waits no longer; gone is that of a directory
// that does not answer.
func (h *Host) attend(ctx context.Context, dirs []string, ended <-chan struct{}, gone func(dir string) error) error {
	again := time.NewTicker(silentAfter)
	defer again.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again.C:
		}
		for _, dir := range dirs {
			_, err := Visit(ctx, h, dir, func() (struct{}, error) {
				f, err := os.Open(dir)
				if err == nil {
					_, _ = f.Readdirnames(1)
					_ = f.Close()
				}
				return struct{}{}, nil // What is wrong with it the work finds.
			})
			select {
			case <-ended:
				return nil
			default:
			}
			if item.ReasonOf(err) == reasonSilent {
				return gone(dir)
			}
			if err != nil {
				return err
			}
		}
	}
}
