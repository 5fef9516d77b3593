package pod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podd/internal/wire"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// recallTime bounds how long the turn of a spawned pod may take to end once it is
// cancelled.
const recallTime = 30 * time.Second

// attend gives a spawned pod its task, unless it has it, and waits for the end of its
// turn. When the call is cancelled the turn is, too.
func (s *spawner) attend(ctx context.Context, child item.Pod, task string) (tool.Output, error) {
	e := &errand{
		pod: child, Task: fold.Task{RequestID: taskID(child.Spec)}, prices: s.host.settings().Prices, report: func(text string) { tool.Progress(ctx, text) },
	}
	defer s.settle(ctx, e)
	err := s.await(ctx, e, task)
	if err := s.unless(ctx, err); errors.Is(err, tool.ErrGoesOn) && e.Ended == nil {
		return tool.Output{}, err
	}
	if e.Ended == nil && ctx.Err() != nil {
		err = s.host.recall(context.WithoutCancel(ctx), e, "the call that it works for was cancelled: "+context.Cause(ctx).Error())
	}
	switch {
	case e.Ended != nil:
		return e.output(), nil
	case !e.Given:
		return tool.Output{}, s.discard(context.WithoutCancel(ctx), child, err)
	}
	return e.gone(fmt.Sprintf("its end is not known: %v", err)), nil
}

// await gives a spawned pod its task, unless its log has it, and follows the log to the
// end of the turn.
func (s *spawner) await(ctx context.Context, e *errand, task string) error {
	if err := s.host.read(ctx, e, false); err != nil || e.Ended != nil {
		return err
	}
	a, release, err := s.host.acquire(ctx, e.pod.ID)
	if err != nil {
		return err
	}
	defer release()
	defer a.pace.watch(tool.TurnFrom(ctx).Waits)()
	e.report(e.pod.Name + ": has the task\n")
	if !e.Given {
		_, err := s.host.Submit(ctx, Submit{Pod: e.pod.ID, Segments: []item.Segment{item.TextSegment{Text: task}}, RequestID: e.RequestID})
		if err != nil {
			return err
		}
		e.Given = true
	}
	return s.host.accompany(ctx, e)
}

// settle bills what the turn has used and keeps it held back until that is stored.
func (s *spawner) settle(ctx context.Context, e *errand) {
	call := tool.CallFrom(ctx).CallID
	s.purse.promise(call, e.used())
	for _, b := range e.Bills {
		tool.TurnFrom(ctx).Bill(b)
	}
	tool.Stored(ctx, func() { s.purse.settled(call) })
}

// discard removes a pod that never got its task, unless something else has happened to it,
// and says why it did not.
func (s *spawner) discard(ctx context.Context, child item.Pod, cause error) error {
	now, err := s.host.Store.Pod(ctx, child.ID)
	if err == nil && now.Last == 0 {
		err = s.host.Delete(ctx, child.ID)
	}
	if err != nil {
		s.host.Logger.Warn("spawned pod without a task could not be removed", "pod", child.ID, "name", child.Name, "error", err)
	}
	return cause
}

// accompany reads the pod's log as it grows until the turn has ended. A pod that is
// loaded anew is followed on.
func (h *Host) accompany(ctx context.Context, e *errand) error {
	for {
		from := e.cursor
		err := h.read(ctx, e, true)
		switch {
		case e.Ended != nil:
			return nil
		case item.ReasonOf(err) == reasonFailed && e.cursor > from:
			continue
		}
		return err
	}
}

// read folds what the log has above the errand's cursor into it, and with follow what
// comes, up to the end of the turn.
func (h *Host) read(ctx context.Context, e *errand, follow bool) error {
	if e.cursor == 0 {
		p, err := h.Store.Pod(ctx, e.pod.ID)
		if err != nil {
			return err
		}
		e.cursor = max(p.First-1, 0)
	}
	for ev, err := range h.Stream(ctx, StreamQuery{Pod: e.pod.ID, After: e.cursor, Follow: follow}) {
		if err != nil {
			return err
		}
		if ev.Record == nil {
			continue
		}
		entry, err := wire.DecodeEntry(ev.Record.Entry)
		if err != nil {
			return damaged(e.pod.ID, ev.Record.Seq, err)
		}
		if e.add(entry); e.Ended != nil {
			return nil
		}
	}
	return nil
}

// recall takes the task back from a spawned pod and reads how its turn ended, or how far it
// got.
func (h *Host) recall(ctx context.Context, e *errand, reason string) error {
	inTime, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	a, release, err := h.acquire(inTime, e.pod.ID)
	if err == nil {
		defer release()
		err = a.recall(inTime, e.Turn, reason)
	}
	if readErr := h.read(ctx, e, false); err == nil {
		err = readErr
	}
	if err == nil && e.Ended == nil {
		err = errors.New("its log does not say")
	}
	return err
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
	if err != nil && !stopping(err) && !errors.Is(err, errUnstored) {
		a.host.Logger.Warn("spawned pod could not be told that nobody waits for it", "pod", a.id, "error", err)
	}
}

// askParent lets a spawned pod that was loaded with its task go on with it, when its
// parent waits for it. One whose parent can't say goes on.
func (a *actor) askParent(spec item.PodSpec) {
	waits, err := a.host.waitsFor(a.host.base, spec)
	switch {
	case stopping(err):
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
	children, err := h.children(ctx, parent)
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
