package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/tool"
)

// call is one tool call of an answer on its way to a result.
type call struct {
	item.ToolCall
	tool tool.Tool
	// arguments is the canonical form that policy and the tool see.
	arguments string
	// refused is the result of a call that does not run; nil for one that does.
	refused *tool.Output
	// result is set once the call has ended.
	result *item.ToolResult
	// stored is what the tool wants done once the result is stored.
	stored []func()
	// summary is the record of the request that summarised the output; nil when there
	// was none.
	summary *item.RequestUsage
}

// prepare gives the items of an answer, each call with an id of its own, and
// decides which calls run.
func (t *run) prepare(ctx context.Context, a answer) ([]item.Item, []*call) {
	items := a.items()
	var calls []*call
	taken := make(map[string]bool)
	for i, it := range items {
		tc, ok := it.(item.ToolCall)
		if !ok {
			continue
		}
		tc.CallID = t.uniqueID(tc.CallID, len(calls)+1, taken)
		taken[tc.CallID] = true
		items[i] = tc
		c := &call{ToolCall: tc}
		t.judge(ctx, c, a.end.Stop)
		calls = append(calls, c)
	}
	return items, calls
}

// uniqueID keeps an id that the log does not have yet and makes one otherwise:
// endpoints send none, or the same one twice.
func (t *run) uniqueID(id string, n int, taken map[string]bool) string {
	made := fmt.Sprintf("call_%d_%d_%d", t.turn.Number, t.step, n)
	for id == "" || taken[id] || t.state.KnownCall(id) {
		id, made = made, made+"x"
	}
	return id
}

// judge decides whether a call runs. A refusal is a result that tells the model
// what to do instead.
func (t *run) judge(ctx context.Context, c *call, stopped llm.StopReason) {
	t.calls++
	if stopped == llm.StopLength {
		c.refuse("not run: the answer was cut by the endpoint's limit on output, so the arguments may be incomplete; call again, with less at once")
		return
	}
	if t.calls > t.Limits.MaxToolCalls {
		c.refuse("not run: the turn reached its limit of %d tool calls", t.Limits.MaxToolCalls)
		return
	}
	var known bool
	if c.tool, known = t.Tools.Lookup(c.Name); !known {
		c.refuse("there is no tool %q; use one of those listed", c.Name)
		return
	}
	arguments, err := c.tool.Check(c.Arguments)
	if err != nil {
		c.refuse("%s: invalid arguments: %v", c.Name, err)
		return
	}
	c.arguments = arguments
	d, err := t.Chain.BeforeTool(ctx, interceptor.Call{
		Pod: t.Pod, Turn: t.turn.Number, CallID: c.CallID, Tool: c.Name, Arguments: arguments,
	}, c.tool.Check)
	if err != nil {
		d.Denied = "denied: " + err.Error()
	}
	c.arguments = d.Arguments
	if d.Denied != "" {
		c.refuse("%s: %s", c.Name, d.Denied)
	}
}

func (c *call) refuse(format string, args ...any) {
	out := failure(fmt.Sprintf(format, args...))
	c.refused = &out
}

// runCalls runs the calls of an answer in parallel and stores their results in the
// order of the calls, each as soon as those before it are there.
func (t *run) runCalls(ctx context.Context, calls []*call) error {
	finished := make(chan *call, len(calls))
	slots := make(chan struct{}, t.Limits.MaxParallel)
	for _, c := range calls {
		go func() {
			defer func() { finished <- c }()
			defer t.rescue(c)
			r := t.runCall(ctx, c, slots)
			c.result = &r
		}()
	}
	done := make(map[*call]bool, len(calls))
	for stored := 0; stored < len(calls); {
		done[<-finished] = true
		for len(finished) > 0 {
			done[<-finished] = true
		}
		var b Batch
		var settle []func()
		for ; stored < len(calls) && done[calls[stored]]; stored++ {
			c := calls[stored]
			settle = append(settle, c.stored...)
			if c.summary != nil {
				t.usage = t.usage.Add(c.summary.Usage)
				b.Kinds = append(b.Kinds, *c.summary)
			}
			b.Kinds = append(b.Kinds, item.ItemAdded{Item: *c.result})
			b.Done = append(b.Done, outputBlock(c.CallID))
		}
		if len(b.Kinds) == 0 {
			continue
		}
		if err := t.commit(ctx, b); err != nil {
			for len(done) < len(calls) {
				done[<-finished] = true
			}
			return err
		}
		for _, work := range settle {
			work()
		}
	}
	if t.calls > t.Limits.MaxToolCalls {
		return limit("MAX_TOOL_CALLS", "the turn reached its limit of %d tool calls; submit again to go on", t.Limits.MaxToolCalls)
	}
	return nil
}

// rescue gives a call that met a defect of podd's own a result that says so: a panic
// costs the call, not the daemon.
func (t *run) rescue(c *call) {
	if p := recover(); p != nil {
		t.logger.Error("call panicked", "step", t.step, "tool", c.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		c.result = &item.ToolResult{CallID: c.CallID, Tool: c.Name, Output: failure(c.Name + ": failed: a defect of podd; it may have taken effect")}
	}
}

// runCall runs one call, when there is a free slot, and cuts its output to size.
func (t *run) runCall(ctx context.Context, c *call, slots chan struct{}) item.ToolResult {
	var out tool.Output
	var took time.Duration
	if c.refused != nil {
		out = *c.refused
	} else {
		select {
		case slots <- struct{}{}:
			start := t.Now()
			out = t.runTool(ctx, c)
			took = t.Now().Sub(start)
			<-slots
		case <-ctx.Done():
			out = failure(c.Name + ": not run: the turn ended first")
		}
	}
	keep := t.keep(c.Name)
	out = t.summarizeOutput(ctx, c, tool.Normal(out), keep, slots)
	out = t.Output.Apply(c.Name, out, keep)
	t.logCut(c.Name, out.Cut)
	return item.ToolResult{CallID: c.CallID, Tool: c.Name, Output: out, DurationMS: took.Milliseconds()}
}

// keep stores the full text of one output that is cut, once however often it is
// called; nil when there is no spool.
func (t *run) keep(name string) keeper {
	if t.Spool == nil {
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
		if path, err = t.Spool.Keep(name, full); err != nil {
			// The marker tells the model that the text is gone, and not why.
			t.logger.Warn("full tool output not kept", "step", t.step, "tool", name, "bytes", len(full), "error", err)
		}
		return path, err
	}
}

// logCut says what the limits removed from an output. The counts are in the log's
// entry too, so that whoever wants sums takes them from there.
func (t *run) logCut(name string, cut *item.Cut) {
	if cut == nil {
		return
	}
	t.logger.Info("tool output cut", "step", t.step, "tool", name,
		"bytes", cut.TotalBytes, "kept_bytes", cut.KeptBytes, "lines", cut.TotalLines, "kept_lines", cut.KeptLines,
		"reduction_percent", cut.Reduction())
}

// runTool runs a tool. Its error and its panic are results that the model sees.
func (t *run) runTool(ctx context.Context, c *call) (out tool.Output) {
	defer func() {
		if p := recover(); p != nil {
			t.logger.Error("tool panicked", "step", t.step, "tool", c.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			out = failure(c.Name + ": failed: a defect of the tool; it may have taken effect")
		}
	}()
	ctx = tool.WithCall(ctx, tool.Call{Pod: t.Pod, Turn: t.turn.Number, CallID: c.CallID})
	ctx = tool.WithStored(ctx, func(work func()) { c.stored = append(c.stored, work) })
	ctx = tool.WithProgress(ctx, func(text string) {
		t.log.Live(item.Delta{
			Turn: t.turn.Number, Step: t.step, Block: outputBlock(c.CallID),
			Kind: item.DeltaToolOutput, CallID: c.CallID, Tool: c.Name, Text: text,
		})
	})
	out, err := c.tool.Run(ctx, c.arguments)
	if err != nil {
		return failure(fmt.Sprintf("%s: failed: %v", c.Name, err))
	}
	return out
}

// outputBlock names the live block of a running tool's output.
func outputBlock(callID string) string { return "output:" + callID }

// failure is the output of a call that did not do its work.
func failure(text string) tool.Output {
	out := tool.FromString(text)
	out.IsError = true
	return out
}
