package pod

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"podd/pkg/item"
)

// A workspace may lie on a file system that does not answer: that of a server that is away.
// A call into it hangs in the system, and nothing ends it. So the pod's goroutine makes no
// such call. Each is made in a goroutine of its own, and whoever waits for it can stop waiting.

var (
	// silentAfter is how long a turn waits for its workspace before the pod says so.
	silentAfter = 5 * time.Second
	// reachTime is how long the call of a client waits for a workspace.
	reachTime = 15 * time.Second
)

// maxLooks is how many calls of clients look into one workspace at once. Each that hangs
// takes a thread.
const maxLooks = 8

// answer is what came of looking into a workspace.
type answer[T any] struct {
	value T
	err   error
}

// reach asks the pod's workspace in a goroutine of its own, once lane has room. The channel
// gets one answer, unless ask hangs.
func reach[T any](ctx context.Context, a *actor, lane chan struct{}, ask func() (T, error)) <-chan answer[T] {
	answered := make(chan answer[T], 1)
	began := a.host.pods.look(func() {
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

// contained turns a panic of a goroutine beside the pod's into an error.
func (a *actor) contained(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("pod panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = item.Errorf(item.KindInternal, "INTERNAL", "podd met a defect of its own: its log has more")
		}
	}()
	return work()
}

// silent is the error of a workspace that does not answer.
func silent(dir string) error {
	return item.Errorf(item.KindPrecondition, "WORKSPACE_SILENT",
		"the workspace %s does not answer: see to the file system that it is on, then try again", dir)
}

// visit lets a client's call look into the pod's workspace. It gives up when ctx ends, or
// the workspace does not answer.
func visit[T any](ctx context.Context, a *actor, look func(context.Context) (T, error)) (T, error) {
	var none T
	var dir string
	if err := a.mailbox.do(ctx, func() { dir = a.journal.rec.Spec.Dir }); err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, reachTime, silent(dir))
	defer cancel()
	answered := reach(ctx, a, a.site.lanes.clients, func() (T, error) { return look(ctx) })
	select {
	case got := <-answered:
		return got.value, got.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
