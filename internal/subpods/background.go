package subpods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/letters"
	"podd/internal/sanitize"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/wire"
)

// Config is what the wing needs.
type Config struct {
	Host    *pod.Host
	Letters *letters.Letters
}

// Wing is the wing of sub-pods in the background: it tells a pod of the end of each, once. The pod's log says which it
// started, and which ends it was told.
type Wing struct {
	Config
	// mu guards accounts, by the parents' ids.
	mu       sync.Mutex
	accounts map[string]*account
}

// Open opens the wing.
func Open(c Config) *Wing {
	w := &Wing{Config: c, accounts: make(map[string]*account)}
	c.Host.Attach(pod.Wing{Settled: w.settled, Deleting: w.deleting, Reserved: w.reserved})
	return w
}

// inBackground says whether no call waits for a sub-pod.
func inBackground(spec item.PodSpec) bool { return spec.Parent != "" && spec.ParentCall == "" }

// settled looks for ends that a pod was not told: the pod's own when its turn has ended, and those of its sub-pods when it
// is loaded or its turn has ended, for a call that ended gives no task any more, and removes none that it only made.
func (w *Wing) settled(p *pod.Hosted) {
	switch {
	case inBackground(p.Pod.Spec):
		if !p.State.Turn.Open {
			w.tellSoon(p.Pod)
		}
	case len(p.State.Pending) > 0 || p.Pod.Spec.SubPods > 0:
		w.Host.Go(func(ctx context.Context) {
			if err := w.look(ctx, p); err != nil && ctx.Err() == nil && p.Life().Err() == nil {
				w.Host.Logger.Warn("cannot look for ends of sub-pods that a pod was not told", "pod", p.Pod.ID, "error", err)
			}
		})
	}
}

// look tells a pod in memory the ends that it was not told.
func (w *Wing) look(ctx context.Context, p *pod.Hosted) error {
	a, err := w.account(ctx, p)
	if err != nil {
		return err
	}
	if err := w.disown(ctx, p, a); err != nil {
		return err
	}
	if err := w.sweep(ctx, p, a); err != nil {
		return err
	}
	for _, s := range a.all() {
		if s.told > 0 {
			continue
		}
		made, err := w.Host.Store.Pod(ctx, s.Pod)
		if err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
			return err
		}
		if made.Status.State != item.StateRunning {
			w.tellSoon(item.Pod{ID: s.Pod, Spec: item.PodSpec{Parent: p.Pod.ID}})
		}
	}
	return nil
}

// sweep removes the sub-pods that an earlier podd made without an entry in the parent's log, once in the life of the parent.
func (w *Wing) sweep(ctx context.Context, p *pod.Hosted, a *account) error {
	leave, err := a.spawning.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if a.swept {
		return nil
	}
	if _, err := w.account(ctx, p); err != nil {
		return err
	}
	children, err := w.Host.Family.Children(ctx, p.Pod.ID)
	if err != nil {
		return err
	}
	children = slices.DeleteFunc(children, func(c item.Pod) bool {
		_, known := a.find(c.ID)
		return known || !inBackground(c.Spec) || c.Last > 0
	})
	if len(children) > 0 {
		if children, err = w.ofCalls(ctx, p.Pod, children); err != nil {
			return err
		}
	}
	for _, c := range children {
		_ = w.discard(ctx, c, nil)
	}
	a.swept = true
	return nil
}

// ofCalls are the sub-pods that calls of the parent made, by their names: others make sub-pods in the background, too.
func (w *Wing) ofCalls(ctx context.Context, parent item.Pod, children []item.Pod) (made []item.Pod, err error) {
	err = w.Host.Logs.Entries(ctx, parent.ID, max(parent.First-1, 0), items, func(e item.Entry) bool {
		k, _ := e.Kind.(item.ItemAdded)
		call, _ := k.Item.(item.ToolCall)
		if call.Name != pod.SpawnTool {
			return true
		}
		sums := sumsOf(parent.ID, call.CallID)
		for _, c := range children {
			known := slices.ContainsFunc(made, func(m item.Pod) bool { return m.ID == c.ID }) // Some endpoints repeat the id of a call.
			if !known && slices.Contains(sums, c.Name[strings.LastIndexByte(c.Name, '-')+1:]) {
				made = append(made, c)
			}
		}
		return true
	})
	return made, err
}

func items(k wire.KindNumber) bool { return k == wire.KindItem }

// disown ends what a fork has pending of its source: its source is told of those sub-pods.
func (w *Wing) disown(ctx context.Context, p *pod.Hosted, a *account) error {
	leave, err := a.telling.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for ; len(a.others) > 0; a.others = a.others[1:] {
		if err := w.end(ctx, p, a, a.others[0], item.OutcomeCancelled, ""); err != nil {
			return err
		}
	}
	return nil
}

// deleting tells the end of a sub-pod that is deleted.
func (w *Wing) deleting(ctx context.Context, p item.Pod) {
	if !inBackground(p.Spec) {
		return
	}
	if err := w.tell(context.WithoutCancel(ctx), p, true); err != nil {
		w.Host.Logger.Warn("cannot tell a pod that its sub-pod was deleted", "pod", p.Spec.Parent, "sub_pod", p.ID, "error", err)
	}
}

// The delays before podd tries again to tell the end of a sub-pod.
const (
	tellFirst = time.Second
	tellMost  = time.Minute
)

// tellSoon tells the end of a sub-pod, and tries again until that is done, can't be done, or podd stops.
func (w *Wing) tellSoon(p item.Pod) {
	w.Host.Go(func(ctx context.Context) {
		for delay := tellFirst; ; delay = min(2*delay, tellMost) {
			err := w.tell(ctx, p, false)
			if err == nil || ctx.Err() != nil {
				return
			}
			w.Host.Logger.Warn("cannot tell a pod of the end of its sub-pod yet", "pod", p.Spec.Parent, "sub_pod", p.ID, "error", err)
			if kind := item.KindOf(err); kind == item.KindDataLoss || item.ReasonOf(err) == store.ReasonNotOwner {
				return // Its other node tells it, or nobody can.
			}
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return
			}
		}
	})
}

// tell tells the end of a sub-pod to its parent, once, if it has ended.
func (w *Wing) tell(ctx context.Context, p item.Pod, deleted bool) error {
	above, err := w.Host.Store.Pod(ctx, p.Spec.Parent)
	if err == nil && above.Status.Pending == 0 {
		return nil // It was told.
	}
	if err != nil {
		return unlessGone(err)
	}
	parent, a, release, err := w.open(ctx, p.Spec.Parent)
	if err != nil {
		return unlessGone(err)
	}
	defer release()
	leave, err := a.telling.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, ok := a.find(p.ID)
	if !ok || s.told > 0 {
		return nil
	}
	c, err := w.ending(ctx, parent, a, s, deleted)
	if err != nil || c == nil {
		return err
	}
	return w.report(ctx, parent, a, s, c)
}

// unlessGone is an error about a parent, unless it is deleted, and with it soon the sub-pod. The next podd that loads the
// parent looks again if it is restored.
func unlessGone(err error) error {
	if item.KindOf(err) == item.KindNotFound {
		return nil
	}
	return err
}

// ending is how a sub-pod ended, by its log; nil if it has not.
func (w *Wing) ending(ctx context.Context, parent *pod.Hosted, a *account, s work, deleted bool) (*child, error) {
	now, err := w.Host.Store.Pod(ctx, s.Pod)
	c := w.child(now)
	if gone := item.ReasonOf(err) == store.ReasonPodNotFound; gone {
		// podd could not tell it when the sub-pod was deleted.
		c.pod, deleted, err = item.Pod{ID: s.Pod, Name: s.Name}, true, nil
	} else if err == nil {
		err = w.Host.Logs.Entries(ctx, s.Pod, 0, nil, func(e item.Entry) bool {
			c.add(e)
			return c.Ended == nil
		})
	}
	switch {
	case c.Ended != nil:
	case err != nil && item.KindOf(err) == item.KindDataLoss:
		c.Ended = &item.TurnEnded{Outcome: item.OutcomeFailed, Cause: err.Error()}
	case err != nil:
		return nil, err
	case deleted:
		c.Ended = &item.TurnEnded{Outcome: item.OutcomeCancelled, Cause: "it was deleted"}
	case c.Given, parent.State.Turn.HasCall(s.Call):
		return nil, nil // It works, or the call gives it the task, or removes it.
	default:
		c.Ended = &item.TurnEnded{Outcome: item.OutcomeInterrupted, Cause: "podd stopped before it gave the task"}
	}
	return c, nil
}

// report stores the letter about an ended sub-pod, what it used, and that both are told, in one commit. The letter about
// one that a person cancelled wakes nobody: the person knows.
func (w *Wing) report(ctx context.Context, parent *pod.Hosted, a *account, s work, c *child) error {
	spent := c.used()
	out := c.output()
	text := out.Summary
	if spent.cost > 0 {
		text += fmt.Sprintf(", $%.4f", spent.cost)
	}
	if out.Content != "" {
		text += "\n\n" + out.Content
	}
	line := fmt.Sprintf("sub-pod %s ended (%s) and used %d tokens", sanitize.Line(c.pod.Name), c.Ended.Outcome, spent.tokens)
	k, err := s.ends(line, c.Ended.Outcome, false)
	if err != nil {
		return err
	}
	more := []item.Kind{k}
	for _, b := range c.Bills {
		more = append(more, b)
	}
	seq, err := w.Letters.Report(ctx, parent, letters.Report{
		From: c.pod, Number: c.cursor, Turn: c.Turn, Text: text, Wake: c.Ended.Outcome != item.OutcomeCancelled, Hops: s.Hops,
	}, more...)
	if err != nil {
		a.doubt()
		return err
	}
	a.end(s.Pod, c.Ended.Outcome, seq)
	return nil
}

// end records, without a letter, that a sub-pod ended that has no task from this pod.
func (w *Wing) end(ctx context.Context, parent *pod.Hosted, a *account, s work, outcome item.Outcome, line string) error {
	k, err := s.ends(line, outcome, true)
	if err != nil {
		return err
	}
	seq, err := parent.Record(ctx, func(time.Time, fold.State) []item.Kind { return []item.Kind{k} })
	if err != nil {
		a.doubt()
		return err
	}
	a.end(s.Pod, outcome, seq)
	return nil
}

// start starts a sub-pod in the background: it creates the pod, writes that into the parent's log, and submits the task.
func (s *spawner) start(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, error) {
	if s.depth > 0 {
		return tool.Error("%s: not run: only the pod at the top of its family starts pods in the background: leave out background", pod.SpawnTool), nil
	}
	own, a, release, err := s.open(ctx, s.parent)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	defer release()
	leave, err := a.spawning.take(ctx)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	defer leave()
	if names := a.working(); len(names) >= cap(s.slots) {
		return tool.Error("%s: not run: %d sub-pods work in the background, which is the most: wait_for one of them first", pod.SpawnTool, len(names)), nil
	}
	hops, err := s.Letters.Leads(ctx, own)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	spec, err := s.spec(ctx, call, own.Pod, args)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	call.Stored(func() { s.budget.settled(call.CallID) }) // From then on the turn knows what is reserved.
	made, err := s.spawn(ctx, namesOf(own.Pod, call.CallID, args.Name), spec)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	// From here on the call is not cancelled halfway.
	ctx = context.WithoutCancel(ctx)
	if err := s.enter(ctx, own, a, call, made, hops); err != nil {
		if err = s.unless(ctx, err); errors.Is(err, tool.ErrGoesOn) {
			return tool.Output{}, err
		}
		return tool.Output{}, s.discard(ctx, made, err)
	}
	return s.give(ctx, own, a, made, args)
}

// working are the names of the sub-pods that have not ended.
func (a *account) working() (names []string) {
	for _, s := range a.all() {
		if s.told == 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// enter writes into the parent's log that a call started a sub-pod.
func (s *spawner) enter(ctx context.Context, own *pod.Hosted, a *account, call *tool.Invocation, made item.Pod, hops int) error {
	l := made.Spec.Limits
	begun := started{
		Parent: s.parent, Call: call.CallID, Turn: call.Turn, Pod: made.ID, Name: made.Name, Tokens: l.TotalTokens, Cost: l.TotalCost, Hops: hops,
	}
	k, err := entryOf(kindStarted, "started "+sanitize.Line(made.Name)+" in the background", begun)
	if err != nil {
		return err
	}
	k.Pending = true
	seq, err := own.Record(ctx, func(time.Time, fold.State) []item.Kind { return []item.Kind{k} })
	if err != nil {
		a.telling <- struct{}{}
		a.doubt()
		<-a.telling
		return err
	}
	a.add(work{started: begun, seq: seq})
	return nil
}

// give gives a started sub-pod its task, unless it has it.
func (s *spawner) give(ctx context.Context, own *pod.Hosted, a *account, made item.Pod, args arguments) (tool.Output, error) {
	if begun, ok := a.find(made.ID); ok && begun.Hops > 1 {
		if err := s.Letters.Lead(ctx, made.ID, begun.Hops-1); err != nil {
			return s.ungiven(ctx, own, a, made, err)
		}
	}
	_, err := s.Host.Submit(ctx, pod.Submit{
		Pod: made.ID, Segments: []item.Segment{item.TextSegment{Text: args.Task}}, RequestID: pod.TaskID(made.Spec),
	})
	if err != nil {
		return s.ungiven(ctx, own, a, made, err)
	}
	return tool.Output{Summary: "started " + made.Name}, nil
}

// ungiven is the result of a call whose sub-pod cannot get the task: the sub-pod ends, and its share returns, without a
// letter.
func (s *spawner) ungiven(ctx context.Context, own *pod.Hosted, a *account, made item.Pod, cause error) (tool.Output, error) {
	if cause = s.unless(ctx, cause); errors.Is(cause, tool.ErrGoesOn) {
		return tool.Output{}, cause
	}
	if given, err := s.given(ctx, made); given || err != nil {
		return tool.Output{Summary: "started " + made.Name}, s.unless(ctx, err) // The write that failed has stored it.
	}
	begun, _ := a.find(made.ID)
	if err := s.end(ctx, own, a, begun, item.OutcomeFailed, "sub-pod "+sanitize.Line(made.Name)+" did not get its task"); err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	return tool.Output{}, s.discard(ctx, made, cause)
}

// given says whether a sub-pod has its task.
func (w *Wing) given(ctx context.Context, made item.Pod) (bool, error) {
	c := w.child(made)
	err := w.Host.Logs.Entries(ctx, made.ID, 0, nil, func(e item.Entry) bool {
		c.add(e)
		return !c.Given
	})
	return c.Given, err
}

// child follows what the log of a sub-pod says of its task.
func (w *Wing) child(p item.Pod) *child {
	return &child{pod: p, Task: fold.Task{RequestID: pod.TaskID(p.Spec)}, models: w.Host.Settings().Models, report: func(string) {}}
}

// findStarted is the outcome of a call that an earlier podd ran: it gives the sub-pod its task, unless it has it. A pod
// without an entry in the parent's log is removed.
func (s *spawner) findStarted(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, item.Recovery, error) {
	fail := func(err error) (tool.Output, item.Recovery, error) {
		return tool.Output{}, item.RecoveryUnknown, s.unless(ctx, err)
	}
	own, a, release, err := s.open(ctx, s.parent)
	if err != nil {
		return fail(err)
	}
	defer release()
	works := a.all()
	i := slices.IndexFunc(works, func(w work) bool { return w.Call == call.CallID && w.Turn == call.Turn })
	if i >= 0 {
		made, err := s.Host.Store.Pod(ctx, works[i].Pod)
		if item.ReasonOf(err) == store.ReasonPodNotFound {
			return tool.Error("%s: %s was deleted", pod.SpawnTool, works[i].Name), item.RecoveryFound, nil
		}
		if err != nil {
			return fail(err)
		}
		if works[i].noTask {
			return tool.Error("%s: not run: %s did not get its task; call again if you still need it", pod.SpawnTool, made.Name), item.RecoveryNoEffect, s.discard(ctx, made, nil)
		}
		out, err := s.give(ctx, own, a, made, args)
		return out, item.RecoveryFound, err
	}
	if err := s.sweep(ctx, own, a); err != nil {
		return fail(err)
	}
	return tool.Error("%s: not run: podd stopped before it started the sub-pod; call again if you still need it", pod.SpawnTool), item.RecoveryNoEffect, nil
}
