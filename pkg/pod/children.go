package pod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// recallTime bounds how long the turn of a spawned pod may take to end once it is
// cancelled.
const recallTime = 30 * time.Second

// SpawnTool is the name of the tool that makes pods, which a pod has when its spec has
// SubPods.
const SpawnTool = "spawn_pod"

// Spawn makes a pod for a call of another: its spec names both. Its task is to be submitted
// with the request id [TaskID].
func (h *Host) Spawn(ctx context.Context, name string, spec item.PodSpec) (item.Pod, error) {
	return h.create(ctx, name, spec)
}

// Children are the pods that a pod spawned.
func (h *Host) Children(ctx context.Context, id string) ([]item.Pod, error) {
	pods, err := h.Store.Pods(ctx)
	return slices.DeleteFunc(pods, func(p item.Pod) bool { return p.Spec.Parent != id }), err
}

// WatchActivity says whether a pod's turn waits, now and whenever that changes, until stop
// is called. The pod stays loaded so long. tell must not block.
func (h *Host) WatchActivity(ctx context.Context, id string, tell func(waits bool)) (stop func(), err error) {
	a, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	unwatch := a.activity.watch(tell)
	return func() {
		unwatch()
		release()
	}, nil
}

// Recall takes its task back from a spawned pod: out of its inbox, or by cancelling the turn
// that works on it, and waits for the turn's end. turn is that turn's number, 0 when it is
// not known.
func (h *Host) Recall(ctx context.Context, id string, turn int64, reason string) error {
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	a, release, err := h.acquire(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return a.recall(ctx, turn, reason)
}

// Why a task that was taken back may not be over.
var (
	errUnstored = errors.New("it is cancelled, and there is no space to store that yet")
	errNotEnded = errors.New("it has not ended in time")
	errNoEnd    = errors.New("its end could not be stored")
)

// recall takes the task back from a spawned pod: out of its inbox, or by cancelling the
// turn that works on it, which has this number when that is known, and waits for its end.
// A task that can't be taken back now is, before it could begin.
func (a *actor) recall(ctx context.Context, turn int64, reason string) error {
	for {
		var err error
		var c cancelling
		doErr := a.do(ctx, func() { c, err = a.recallNow(turn, reason) })
		if err = cmp.Or(doErr, err); err == nil && c.turn != nil {
			err = c.wait(ctx)
		}
		switch {
		case noSpace(err):
			return errUnstored
		case ctx.Err() != nil:
			return errNotEnded
		case err != nil || c.turn == nil || c.turn.over:
			return err
		case c.turn.ending:
			return errNoEnd
		}
		// It has left the task where it was, or the turn open.
	}
}

// recallNow takes back what can be at once, and says which turn was cancelled for it.
func (a *actor) recallNow(turn int64, reason string) (cancelling, error) {
	a.recalled = true
	if err := a.takeBack(); err != nil {
		if a.turn == nil {
			a.hold(err)
		}
		return cancelling{}, err
	}
	if a.waits(a.task) < 0 && !a.works(a.task, turn) {
		return cancelling{}, nil
	}
	return a.cancelTurn(reason)
}

// waits is the place of a submit in the inbox; below 0 when it does not wait there.
func (a *actor) waits(requestID string) int {
	return slices.IndexFunc(a.inbox, func(s worker.Submit) bool { return s.RequestID == requestID })
}

// works says that the open turn works on a task: it has this number, or says so itself.
func (a *actor) works(task string, turn int64) bool {
	return a.state.Turn.Open && (slices.Contains(a.state.Turn.RequestIDs, task) || turn > 0 && a.state.Turn.Number == turn)
}

// takeBack takes the task that was recalled out of the inbox, unless a turn is about to
// begin with it.
func (a *actor) takeBack() error {
	if !a.recalled {
		return nil
	}
	if i := a.waits(a.task); i >= 0 && !a.taken[a.inbox[i].Seq] {
		return a.withdraw(a.host.base, a.task)
	}
	return nil
}

// disown ends the turns of spawned pods that nobody waits for any more: those of the
// calls of a turn that has ended. They have ended before it, unless podd could not tell
// them: the tool is gone, or the turn was given up after several crashes. Those that are
// not in memory ask when they are loaded.
func (h *Host) disown(parent string) {
	for _, a := range h.inMemory() {
		if a.parent == parent {
			h.wg.Go(a.disowned)
		}
	}
}

// disowned ends the turn that a spawned pod was spawned for: that of its parent has ended.
func (a *actor) disowned() {
	err := a.recall(a.host.base, 0, "the turn that it worked for has ended")
	if err != nil && !Stopping(err) && !errors.Is(err, errUnstored) {
		a.host.Logger.Warn("spawned pod could not be told that nobody waits for it", "pod", a.id, "error", err)
	}
}

// askParent lets a spawned pod that was loaded with its task go on with it, when its
// parent waits for it. One whose parent can't say goes on.
func (a *actor) askParent(spec item.PodSpec) {
	waits, err := a.host.waitsFor(a.host.base, spec)
	switch {
	case Stopping(err):
		return
	case err == nil && !waits, item.ReasonOf(err) == store.ReasonPodNotFound:
		a.disowned()
	case err != nil:
		a.log.Warn("it is not known whether the parent of a spawned pod waits for it", "error", err)
	}
	_ = a.do(a.host.base, func() {
		a.unsure = false
		a.next()
	})
}

// waitsFor says whether the call that a pod was spawned for waits for it.
func (h *Host) waitsFor(ctx context.Context, spec item.PodSpec) (waits bool, err error) {
	parent, release, err := h.acquire(ctx, spec.Parent)
	if err != nil {
		return false, err
	}
	defer release()
	err = parent.do(ctx, func() { waits = parent.state.Turn.HasCall(spec.ParentCall) })
	return waits, err
}

// deleteChildren removes what a pod has spawned.
func (h *Host) deleteChildren(ctx context.Context, parent string) error {
	children, err := h.Children(ctx, parent)
	if err != nil {
		return err
	}
	for _, p := range children {
		if err := h.Delete(ctx, p.ID); err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
			return fmt.Errorf("the pods that it spawned could not all be deleted: %w", err)
		}
	}
	return nil
}
