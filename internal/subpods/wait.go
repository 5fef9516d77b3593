package subpods

import (
	"context"
	"errors"
	"fmt"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// wait submits the task to a spawned pod, unless it already has it, and waits for the end
// of its turn. When the call is cancelled, so is the turn.
func (s *spawner) wait(ctx context.Context, call *tool.Invocation, made item.Pod, task string) (tool.Output, error) {
	c := &child{
		pod: made, Task: fold.Task{RequestID: pod.TaskID(made.Spec)}, models: s.Host.Settings().Models,
		report: call.Progress,
	}
	defer s.settle(call, c)
	err := s.accompany(ctx, call, c, task)
	if err := s.unless(ctx, err); errors.Is(err, tool.ErrGoesOn) && c.Ended == nil {
		return tool.Output{}, err
	}
	if c.Ended == nil && ctx.Err() != nil {
		err = s.recall(context.WithoutCancel(ctx), c, "the parent's call was cancelled: "+context.Cause(ctx).Error())
	}
	switch {
	case c.Ended != nil:
		return c.output(), nil
	case !c.Given:
		return tool.Output{}, s.discard(context.WithoutCancel(ctx), made, err)
	case item.KindOf(err) == item.KindNotFound:
		return c.gone("it was deleted"), nil
	}
	return c.gone(fmt.Sprintf("cannot find out how it ended: %v", err)), nil
}

// accompany submits the task to a spawned pod, unless its log has it, and follows the log
// to the end of the turn.
func (s *spawner) accompany(ctx context.Context, call *tool.Invocation, c *child, task string) error {
	if err := s.read(ctx, c, false); err != nil || c.Ended != nil {
		return err
	}
	stop, err := s.Host.Family.Watch(ctx, c.pod.ID, call.Meter.Waits)
	if err != nil {
		return err
	}
	defer stop()
	c.report(c.pod.Name + ": got the task\n")
	if !c.Given {
		_, err := s.Host.Submit(ctx, pod.Submit{
			Pod: c.pod.ID, Segments: []item.Segment{item.TextSegment{Text: task}}, RequestID: c.RequestID, NoQuestions: call.Asks == nil,
		})
		if err != nil {
			return err
		}
		c.Given = true
	}
	return s.follow(ctx, c)
}

// follow reads the pod's log as it grows until the turn has ended. It continues when the
// pod is loaded again.
func (s *spawner) follow(ctx context.Context, c *child) error {
	for {
		from := c.cursor
		err := s.read(ctx, c, true)
		switch {
		case c.Ended != nil:
			return nil
		case item.ReasonOf(err) == pod.ReasonFailed && c.cursor > from:
			continue
		}
		return err
	}
}

// read adds the entries after the child's cursor, and with follow also later ones, up to
// the end of the turn.
func (s *spawner) read(ctx context.Context, c *child, follow bool) error {
	if c.cursor == 0 {
		p, err := s.Host.Get(ctx, c.pod.ID)
		if err != nil {
			return err
		}
		c.cursor = max(p.First-1, 0)
	}
	for ev, err := range s.Host.Logs.Stream(ctx, pod.StreamQuery{Pod: c.pod.ID, After: c.cursor, Follow: follow}) {
		if err != nil {
			return err
		}
		if ev.Record == nil {
			continue
		}
		entry, err := ev.Record.Decode()
		if err != nil {
			return fmt.Errorf("entry #%d of its log can't be read: %w", ev.Record.Seq, err)
		}
		if c.add(entry); c.Ended != nil {
			return nil
		}
	}
	return nil
}

// recall withdraws the task from a spawned pod and reads how its turn ended, or how far
// it got.
func (s *spawner) recall(ctx context.Context, c *child, reason string) error {
	err := s.Host.Family.Recall(ctx, c.pod.ID, c.Turn, reason)
	if readErr := s.read(ctx, c, false); err == nil {
		err = readErr
	}
	if err == nil && c.Ended == nil {
		err = errors.New("its log does not say")
	}
	return err
}

// settle bills what the turn has used and keeps it reserved until that is stored.
func (s *spawner) settle(call *tool.Invocation, c *child) {
	s.budget.promise(call.CallID, c.used())
	for _, b := range c.Bills {
		call.Meter.Bill(b)
	}
	call.Stored(func() { s.budget.settled(call.CallID) })
}

// discard removes a pod that never got its task, unless its log has something else, and
// returns why it did not get it.
func (w *Wing) discard(ctx context.Context, made item.Pod, cause error) error {
	now, err := w.Host.Get(ctx, made.ID)
	if err == nil && now.Last == 0 {
		err = w.Host.Delete(ctx, made.ID)
	}
	if err != nil {
		w.Host.Logger.Warn("cannot remove a sub-pod without a task", "pod", made.ID, "name", made.Name, "error", err)
	}
	return cause
}
