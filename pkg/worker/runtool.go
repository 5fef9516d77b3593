package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// runTool runs a tool, or finds the outcome of a call that an earlier podd started. Its
// error and its panic become results that the model sees.
func (t *caller) runTool(ctx context.Context, c *call, slots chan struct{}) (out tool.Output, next callState) {
	defer func() {
		if p := recover(); p != nil {
			t.j.logger.Error("tool panicked", "step", t.j.step, "tool", c.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if c.recovery == item.RecoveryAgain {
				c.recovery = item.RecoveryUnknown
			}
			out, next = failure(c.Name+": failed: internal error in the tool; the call may have taken effect"), callEnded
		}
	}()
	meter := &meter{j: t.j, idle: &t.idle, call: c}
	defer meter.settle()
	report, flush := t.w.Output.Live(func(text string) {
		t.j.log.Live(item.Delta{
			Turn: t.j.turn.Number, Step: t.j.step, Block: outputBlock(c.CallID),
			Kind: item.DeltaToolOutput, CallID: c.CallID, Tool: c.Name, Text: text,
		})
	})
	defer flush()
	call := t.judge.invocation(c)
	call.Report, call.Meter = report, meter
	call.Later = func(work func()) { c.settle = append(c.settle, work) }
	call.Asks = t.asks(c, meter, slots)
	call.Entry = func(k item.Kind) { c.entries = append(c.entries, k) }
	if c.state == callRecovers {
		return t.recoverCall(ctx, c, call)
	}
	if c.approved {
		command := c.command
		now, ok := apart(ctx, t.w, func() []Executed { return t.judge.executed(command) })
		switch {
		case !ok:
			return failure(notBegun(ctx, c)), callEnded
		case !slices.Equal(c.executes, now):
			return tool.Output{}, callChanged
		}
	}
	out, err := c.tool.Run(ctx, call)
	switch {
	case errors.Is(err, tool.ErrChanged):
		return tool.Output{}, callChanged
	case errors.Is(err, tool.ErrGoesOn):
		return tool.Output{}, callGoesOn
	case err != nil && c.recovery == item.RecoveryAgain:
		// It says nothing about the first try.
		c.recovery = item.RecoveryUnknown
		return t.reconcile(ctx, c, failure(fmt.Sprintf("%s: interrupted, and podd's second try failed: %v; it may have taken effect: check before you repeat it", c.Name, err)))
	case err != nil:
		return failure(fmt.Sprintf("%s: failed: %v", c.Name, err)), callEnded
	}
	return out, callEnded
}

// recoverCall finds the result of a started call and never starts it again.
func (t *caller) recoverCall(ctx context.Context, c *call, recovered *tool.Invocation) (tool.Output, callState) {
	if c.writes && c.command == "" && t.w.Files != nil {
		for _, target := range c.targets {
			if err := t.w.Files.RemoveUnfinished(ctx, target.Named()); err != nil {
				t.j.logger.Debug("cannot look for what a killed write left", "tool", c.Name, "error", err)
			}
		}
	}
	recovered.Planned, recovered.Since, recovered.Rebooted = c.planned, c.since, c.rebooted
	c.recovery = item.RecoveryUnknown // Also if the tool panics.
	if c.tool == nil {
		return t.reconcile(ctx, c, c.lost)
	}
	out, how, err := c.tool.Recover(ctx, recovered)
	if errors.Is(err, tool.ErrGoesOn) {
		return tool.Output{}, callGoesOn
	}
	c.recovery = how
	if err != nil {
		t.j.logger.Warn("cannot find out how a call ended", "tool", c.Name, "error", err)
		out, c.recovery = tool.Output{}, item.RecoveryUnknown
	}
	if c.recovery != item.RecoveryUnknown {
		return out, callEnded
	}
	if out.Summary == "" {
		out = c.lost
	}
	return t.reconcile(ctx, c, out)
}

// reconcile asks whoever may know it how a call ended whose tool does not. out is the result if nobody does.
func (t *caller) reconcile(ctx context.Context, c *call, out tool.Output) (tool.Output, callState) {
	if t.w.Reconcile == nil || c.began.IsZero() || ctx.Err() != nil {
		return out, callEnded
	}
	found, how, err := t.w.Reconcile(ctx, tool.Lost{
		Pod: t.w.Pod, Turn: t.j.turn.Number, CallID: c.CallID, Key: c.Key(t.w.Pod), Tool: c.Name, Arguments: c.arguments, Began: c.began,
	})
	switch {
	case errors.Is(err, tool.ErrGoesOn), err != nil && errors.Is(context.Cause(ctx), ErrShutdown):
		// The next podd asks again.
		return tool.Output{}, callGoesOn
	case err != nil:
		t.j.logger.Warn("the outcome of a call stays unknown", "tool", c.Name, "error", err)
		out.Summary, out.Content = fmt.Sprintf("%s; %v", out.Summary, err), cmp.Or(out.Content, found.Content)
		return out, callEnded
	case how == "":
		return out, callEnded
	}
	c.recovery = how
	return found, callEnded
}

// keep stores the full text of one cut output, once however often it is called; nil
// without a spool.
func (t *caller) keep(name string) keeper {
	if t.w.Spool == nil {
		return nil
	}
	var path string
	var err error
	done := false
	return func(full string) (string, error) {
		if done {
			return path, err
		}
		done = true
		if path, err = t.w.Spool.Keep(name, full); err != nil {
			// The marker tells the model that the text is gone, but not why.
			t.j.logger.Warn("full tool output not kept", "step", t.j.step, "tool", name, "bytes", len(full), "error", err)
		}
		return path, err
	}
}

// logCut logs what the limits removed from an output. The log's entry has the same
// counts, for sums.
func (t *journal) logCut(name string, cut *item.Cut) {
	if cut == nil {
		return
	}
	t.logger.Info("tool output cut", "step", t.step, "tool", name,
		"bytes", cut.TotalBytes, "kept_bytes", cut.KeptBytes, "lines", cut.TotalLines, "kept_lines", cut.KeptLines,
		"reduction_percent", cut.Reduction())
}

// outputBlock names the live block of a running tool's output.
func outputBlock(callID string) string { return "output:" + callID }

// failure is the output of a call that did not do its work.
func failure(text string) tool.Output {
	out := tool.FromString(text)
	out.IsError = true
	return out
}
