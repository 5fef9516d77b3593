package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// caller gets the results of calls: it waits for approvals, runs the tools, finds the
// outcome of calls that an earlier podd started, and cuts or summarizes outputs.
type caller struct {
	w     *Worker
	j     *journal
	judge *judge
	saver *saver
	// idle are the calls whose tools only wait.
	idle idleCalls
	// ended are calls whose results the end of the turn kept from being stored.
	ended []*call
}

// call is one tool call of an answer on its way to a result.
type call struct {
	item.ToolCall
	tool tool.Tool
	// arguments is the canonical form that policy and the tool see.
	arguments string
	state     callState
	// output is that of a call that is refused or made.
	output tool.Output
	// planned is what the tool is about to make of files. recovery is how the outcome of a call
	// was learned that an earlier podd started.
	planned  []item.PlannedChange
	recovery item.Recovery
	// began is when an earlier podd started the call.
	began time.Time
	// since is what files had when a later call on them began, by path; see [tool.Invocation.Since].
	since map[string]string
	// lost is its output if nobody knows its outcome.
	lost tool.Output
	// rebooted says that the machine may have started again since the call began.
	rebooted bool
	// decided says that a call that waits for others was decided on, and asks nobody.
	decided bool
	// denied says that the call is refused because a person, a rule or an interceptor forbids it.
	denied bool
	// questions say why a person has to agree; empty if the call does not ask.
	questions []string
	// asked is the question of a call that asks, with an answer that is already known.
	asked fold.Question
	// agreed are the previews that a person saw who agreed to an earlier form of the call.
	agreed []item.Preview
	// approved says that a person agreed to the call in its current form.
	approved bool
	reach
	// asks is locked while the running call asks a person: one form at a time.
	asks sync.Mutex
	// working is closed once the call has run; nil before it is launched.
	working chan struct{}
	// tries counts how often it was decided on again because it changed.
	tries int
	// result is set once the call has ended.
	result item.ToolResult
	// settle is what the tool has to do once the result is stored.
	settle []func()
	// aborted says which interceptor ended the turn at the call or its result, and why. It
	// is effective once it is stored with the result.
	aborted string
	// entries are what the tool stores with the result.
	entries []item.Kind
	// billed is the record of the requests of the tool.
	billed []item.RequestUsage
	// summary is the record of the request that summarised the output; nil without one.
	summary *item.RequestUsage
}

// reach is what a call touched when it was decided on.
type reach struct {
	// targets are where its paths led; writes says that it changes them.
	targets []tool.Target
	writes  bool
	// acts says that the call may change files, also others than its targets.
	acts bool
	// command is the line that it runs, executes the files that the line executes, as they
	// were then.
	command  string
	executes []Executed
	// previews are what it would make of files, if a person is asked. readable says that the
	// model may read these files without a question.
	previews []item.Preview
	readable bool
}

// precedes says whether an earlier call of an answer may change a file that a later one
// changes, too.
func (c *call) precedes(later *call) bool {
	if c.state.toolless() || !c.writes || !later.writes {
		return false
	}
	return slices.ContainsFunc(later.targets, func(t tool.Target) bool {
		return slices.ContainsFunc(c.targets, func(of tool.Target) bool { return sameFile(of, t) })
	})
}

// sameFile says whether two paths are, or lead to, one file.
func sameFile(a, b tool.Target) bool {
	names := append([]string{b.Named()}, b.Leads()...)
	return slices.ContainsFunc(append([]string{a.Named()}, a.Leads()...), func(name string) bool { return slices.Contains(names, name) })
}

func (c *call) refuse(format string, args ...any) {
	c.state, c.output, c.questions = callRefused, failure(fmt.Sprintf(format, args...)), nil
}

// deny refuses a call that somebody forbids.
func (c *call) deny(format string, args ...any) {
	c.refuse(format, args...)
	c.denied = true
}

// signal is the last message of a call's goroutine: next is what becomes of the call, whose result is
// there if it is callEnded; or the answer to its question, or err says why none comes.
type signal struct {
	call   *call
	next   callState
	answer *item.ApprovalResolved
	err    error
}

// batch is the running calls of one answer. It belongs to the turn's goroutine.
type batch struct {
	t       *caller
	ctx     context.Context
	calls   []*call
	signals chan signal
	slots   chan struct{}
	// working and asking count the goroutines of calls, by what they do.
	working, asking int
	// leaving says that the turn has to stop while a question is open or a call goes on.
	leaving bool
}

// runCalls gets the results of an answer's calls. Those that do not ask run in parallel
// at once. Results are stored in the order of the calls, each as soon as the earlier ones
// are there; calls that wait for a person or for podd's restart delay no other.
func (t *caller) runCalls(ctx context.Context, calls []*call) error {
	b := &batch{t: t, ctx: ctx, calls: calls, signals: make(chan signal, len(calls)), slots: make(chan struct{}, t.w.Limits.MaxParallel)}
	for _, c := range calls {
		b.launch(c)
	}
	err := func() error {
		defer b.abandon()
		return b.loop()
	}()
	t.j.clock.start()
	switch _, failed := errors.AsType[*logError](err); {
	case err != nil && !failed:
		t.keepEnded(calls)
		return err
	case err != nil:
		return err
	case b.leaving:
		return ErrShutdown
	}
	if s := t.j.aborted(); s != nil {
		return s
	}
	if t.j.now.Turn.ToolCalls > t.w.Limits.MaxToolCalls {
		return limit("MAX_TOOL_CALLS", "the turn reached its limit of %d tool calls; submit again to continue", t.w.Limits.MaxToolCalls)
	}
	return nil
}

// launch starts the goroutine that waits for the call's approval, or the one that runs
// the call.
func (b *batch) launch(c *call) {
	switch c.state {
	case callWaits:
		return
	case callAsks:
		b.asking++
		go func() {
			r, err := b.t.await(c)
			b.signals <- signal{call: c, answer: &r, err: err}
		}()
		return
	}
	b.working++
	earlier := b.changing(c)
	working := make(chan struct{})
	c.working = working
	go func() {
		next := callEnded
		defer func() { b.signals <- signal{call: c, next: next} }()
		defer close(working)
		defer b.t.rescue(c)
		for _, ended := range earlier {
			<-ended
		}
		c.result, next = b.t.runCall(b.ctx, c, b.slots)
	}()
}

// changing are the running calls before c that may change a file that c executes: c waits
// for them. What was approved is then checked again.
func (b *batch) changing(c *call) (ended []<-chan struct{}) {
	if len(c.executes) == 0 {
		return nil
	}
	for _, earlier := range b.calls[:slices.Index(b.calls, c)] {
		if earlier.writes && earlier.working != nil {
			ended = append(ended, earlier.working)
		}
	}
	return ended
}

// loop handles the goroutines' messages until all results are stored.
func (b *batch) loop() error {
	for slices.ContainsFunc(b.calls, func(c *call) bool { return c.state != callStored }) && (!b.leaving || b.working+b.asking > 0) {
		if b.working <= int(b.t.idle.n.Load()) {
			b.t.j.clock.stop()
		} else {
			b.t.j.clock.start()
		}
		select {
		case s := <-b.signals:
			if err := b.handle(s); err != nil {
				return err
			}
		case <-b.t.idle.poke:
			continue
		}
		for len(b.signals) > 0 {
			if err := b.handle(<-b.signals); err != nil {
				return err
			}
		}
		// A question is stored before the result for which it waited: a killed podd asks on.
		late := b.late()
		if err := cmp.Or(b.store(), late); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) handle(s signal) error {
	if s.answer == nil {
		b.working--
		s.call.state = s.next
		if s.next == callChanged {
			return b.relaunch(s.call, b.t.judge.redecide(b.ctx, s.call))
		}
		b.leaving = b.leaving || s.next == callGoesOn
		return nil
	}
	b.asking--
	switch {
	case b.t.j.waiting.Err() != nil:
		// When podd stops, the question stays open, or its answer is found again. Otherwise the end of the turn gives the result.
		b.leaving = true
		return nil
	case s.err != nil:
		return &logError{s.err}
	}
	return b.decided(s.call, b.t.judge.answered(b.ctx, s.call, *s.answer))
}

// decided is relaunch for a decision that may be because ctx has ended: then the call has not
// begun.
func (b *batch) decided(c *call, kinds []item.Kind) error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return b.relaunch(c, kinds)
}

// late decides on the calls that waited for earlier ones on their files.
func (b *batch) late() error {
	for i, c := range b.calls {
		if c.state != callWaits || slices.ContainsFunc(b.calls[:i], func(e *call) bool { return !e.state.over() && e.precedes(c) }) {
			continue
		}
		if err := b.decided(c, b.t.judge.again(b.ctx, c, b.calls[:i])); err != nil {
			return err
		}
	}
	return nil
}

// relaunch continues a call once the log has the entries of a decision on it.
func (b *batch) relaunch(c *call, kinds []item.Kind) error {
	kinds = b.t.saver.starting(b.ctx, kinds, c)
	if len(kinds) > 0 {
		if err := b.t.j.commit(b.ctx, Batch{Kinds: kinds}); err != nil {
			return err
		}
	}
	b.launch(c)
	return nil
}

// store commits the results that are there and that do not have to wait for an earlier
// running call.
func (b *batch) store() error {
	var out Batch
	var now []*call
	for _, c := range b.calls {
		if c.state == callStored || c.state == callGoesOn || c.state.held() {
			continue
		}
		if c.state != callEnded {
			break
		}
		now = append(now, c)
		out.Done = append(out.Done, outputBlock(c.CallID))
	}
	if len(now) == 0 {
		return nil
	}
	saved := b.t.saver.ended(b.ctx)
	return storeResults(now, func() error {
		out.Kinds = nil
		for _, c := range now {
			for _, u := range c.bills() {
				out.Kinds = append(out.Kinds, u)
			}
			out.Kinds = append(out.Kinds, b.t.came(c)...)
		}
		out.Kinds = append(out.Kinds, saved...)
		return b.t.j.commit(b.ctx, out)
	})
}

// storeResults stores results of calls, without their images if the pod has no room for them.
func storeResults(calls []*call, store func() error) error {
	err := store()
	if item.ReasonOf(err) == imagesFull {
		for _, c := range calls {
			c.dropImages()
		}
		err = store()
	}
	if err != nil {
		return err
	}
	for _, c := range calls {
		c.state = callStored
		for _, work := range c.settle {
			work()
		}
	}
	return nil
}

// bills are what the endpoint billed for a call.
func (c *call) bills() []item.RequestUsage {
	if c.summary == nil {
		return c.billed
	}
	return append(slices.Clip(c.billed), *c.summary)
}

// came is what is stored for a call with a result, without its bills.
func (t *caller) came(c *call) []item.Kind {
	kinds := append([]item.Kind{item.ItemAdded{Item: c.result}}, c.entries...)
	if c.result.Cut != nil {
		kinds = append(kinds, item.AlertRaised{Alert: item.Alert{
			Pod: t.w.Pod, Level: item.LevelInfo, Source: "output", Time: t.w.Now(),
			Text: fmt.Sprintf("the output of %s was cut to its limit", c.Name),
		}})
	}
	return kinds
}

// abandon waits for the goroutines of a failed batch: running calls end by themselves or
// with the turn, asking ones when the turn's waiting ends.
func (b *batch) abandon() {
	if b.working+b.asking > 0 {
		b.t.j.stopWaiting(ErrShutdown)
	}
	for b.working+b.asking > 0 {
		if s := <-b.signals; s.answer == nil {
			b.working--
			s.call.state = s.next
		} else {
			b.asking--
		}
	}
	for _, c := range b.calls {
		if c.state == callStored {
			continue
		}
		// Whatever the result, the call has to be paid for.
		for _, u := range c.bills() {
			b.t.j.owe(u)
		}
	}
}

// rescue gives a call with an internal error a result that says so: a panic costs the
// call, not the daemon, nor the decision on it.
func (t *caller) rescue(c *call) {
	if p := recover(); p != nil {
		t.j.logger.Error("call panicked", "step", t.j.step, "tool", c.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		c.result = item.ToolResult{
			CallID: c.CallID, Tool: c.Name, Recovery: c.recovery, Denied: c.denied, Aborted: t.w.Output.Redact(c.aborted),
			Output: failure(c.Name + ": failed: internal error in podd; the call may have taken effect"),
		}
	}
}

// acquireSlot waits for a free slot, until ctx ends. A started call always waits: whatever still
// runs of it has to end with ctx.
func acquireSlot(ctx context.Context, slots chan struct{}, started bool) bool {
	if started {
		slots <- struct{}{}
		return true
	}
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// notBegun says why a call did not begin before ctx ended. When podd stops, its turn resumes.
func notBegun(ctx context.Context, c *call) string {
	if errors.Is(context.Cause(ctx), ErrShutdown) {
		return fmt.Sprintf(stoppedFirst, c.Name)
	}
	return c.Name + ": not run: the turn ended first"
}

// stoppedFirst is the result of a call that did not begin before podd stopped.
const stoppedFirst = "%s: not run: podd stopped before the call began; call again if it is still needed"

// runCall runs one call, once there is a free slot, and cuts its output to size. There is no result
// if next is not callEnded.
func (t *caller) runCall(ctx context.Context, c *call, slots chan struct{}) (r item.ToolResult, next callState) {
	var out tool.Output
	var took time.Duration
	switch c.state {
	case callRefused:
		out = c.output
	case callMade:
		out = t.judge.review(ctx, c, c.output)
	default:
		if !acquireSlot(ctx, slots, c.state == callRecovers) {
			out = failure(notBegun(ctx, c))
			if c.recovery == item.RecoveryAgain {
				// The first try did begin.
				out, c.recovery = c.lost, item.RecoveryUnknown
			}
			break
		}
		start := t.w.Now()
		out, next = t.runTool(ctx, c, slots)
		took = t.w.Now().Sub(start)
		<-slots
		if next != callEnded {
			return r, next
		}
		out = t.judge.review(ctx, c, t.w.Output.Clean(out))
	}
	keep := t.keep(c.Name)
	out = t.summarizeOutput(ctx, c, t.w.Output.Clean(out), keep, slots)
	out = t.w.Output.Apply(c.Name, out, keep)
	t.j.logCut(c.Name, out.Cut)
	return item.ToolResult{
		CallID: c.CallID, Tool: c.Name, Output: out, DurationMS: took.Milliseconds(), Recovery: c.recovery, Denied: c.denied, Aborted: t.w.Output.Redact(c.aborted),
	}, callEnded
}

// await waits for the answer to a call's question. The end of the turn is not an answer:
// then the error says why.
func (t *caller) await(c *call) (item.ApprovalResolved, error) {
	if c.asked.Answer != nil {
		return *c.asked.Answer, nil
	}
	return t.j.log.Ask(t.j.waiting, c.asked.ApprovalRequested, item.Alert{})
}

// imagesFull is the reason of a log that takes no more images.
const imagesFull = "IMAGES_FULL"

// dropImages leaves the images out of a result whose pod has no room for them.
func (c *call) dropImages() {
	if c.result.Images == nil {
		return
	}
	c.result.Images = nil
	c.result.Content = strings.TrimPrefix(c.result.Content+"\n[The images are left out: the pod has as many bytes of images as it may have. A person can fork it to go on.]", "\n")
}
