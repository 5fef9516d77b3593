package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Cancelled is the cause to cancel a turn's context with when a person ends it.
type Cancelled struct {
	// Reason is one sentence, shown as the turn's cause.
	Reason string
}

// Error is the reason.
func (c *Cancelled) Error() string { return c.Reason }

var (
	// ErrShutdown is the cause to cancel a turn's context with when podd stops.
	ErrShutdown = errors.New("podd was stopped in the middle of the turn; submit again to go on")

	errTurnTime = errors.New("turn time")
)

// stop is why a turn ends without having finished.
type stop struct {
	outcome item.Outcome
	reason  string
	cause   string
}

// Error is the cause.
func (s *stop) Error() string { return s.cause }

func failed(reason, format string, args ...any) *stop {
	return &stop{outcome: item.OutcomeFailed, reason: reason, cause: fmt.Sprintf(format, args...)}
}

func limit(reason, format string, args ...any) *stop {
	return &stop{outcome: item.OutcomeLimit, reason: reason, cause: fmt.Sprintf(format, args...)}
}

// finish asks the interceptors whether the turn may finish. It returns true when
// they added something for the model to see.
func (t *run) finish(ctx context.Context, a answer) (goOn bool, err error) {
	d, err := t.Chain.TurnEnd(ctx, interceptor.Turn{Pod: t.Pod, Turn: t.turn.Number, Steps: t.step, Answer: a.text})
	if err != nil {
		return false, failed("INTERCEPTOR", "%v", err)
	}
	if len(d.Items) == 0 {
		return false, nil
	}
	t.goOns++
	if t.goOns > t.Limits.MaxGoOns {
		return false, limit("MAX_GO_ONS", "interceptors kept the turn from finishing %d times, which is the limit", t.Limits.MaxGoOns)
	}
	var b Batch
	for _, it := range d.Items {
		b.Kinds = append(b.Kinds, item.ItemAdded{Item: it})
	}
	return true, t.commit(ctx, b)
}

// end stores the terminal entry, after a result for each call that has none.
func (t *run) end(ctx context.Context, err error) error {
	s := t.classify(ctx, err)
	var b Batch
	if !t.claimed {
		b = t.bareClaim()
	}
	if t.partial != nil {
		b.Done = t.partial.blockIDs()
		if text := t.partial.spoken(); text != "" && s != nil && s.outcome == item.OutcomeCancelled {
			// What the person has read stays in the conversation.
			b.Kinds = append(b.Kinds, item.ItemAdded{Item: item.AssistantMessage{Text: text}})
		}
	}
	for _, call := range t.state.OpenCalls() {
		b.Kinds = append(b.Kinds, item.ItemAdded{Item: Interrupted(call)})
		b.Done = append(b.Done, outputBlock(call.CallID))
	}
	b.Kinds = append(b.Kinds, t.terminal(s)...)
	return t.commit(ctx, b)
}

// bareClaim takes the submits without giving the model anything.
func (t *run) bareClaim() Batch {
	var started item.TurnStarted
	var b Batch
	for _, s := range t.turn.Submits {
		started.RequestIDs = append(started.RequestIDs, s.RequestID)
		b.Claims = append(b.Claims, s.Seq)
	}
	b.Kinds = []item.Kind{started}
	return b
}

// terminal is the terminal entry, after an alert where a person should know; s is
// nil for a finished turn.
func (t *run) terminal(s *stop) []item.Kind {
	end := item.TurnEnded{Outcome: item.OutcomeFinished, Usage: t.usage, Steps: int(t.usage.Requests), ToolCalls: t.calls}
	if s == nil {
		return []item.Kind{end}
	}
	end.Outcome, end.Reason, end.Cause = s.outcome, s.reason, s.cause
	text := fmt.Sprintf("turn %d ended: %s", t.turn.Number, s.cause)
	switch s.outcome {
	case item.OutcomeFailed:
		return []item.Kind{t.alert(item.LevelError, text), end}
	case item.OutcomeLimit:
		return []item.Kind{t.alert(item.LevelWarn, text), end}
	}
	return []item.Kind{end}
}

// classify says how an error ends the turn; nil means that it finished.
func (t *run) classify(ctx context.Context, err error) *stop {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		// Whatever failed, it failed because the turn was ended.
		err = context.Cause(ctx)
	}
	if s, ok := errors.AsType[*stop](err); ok {
		return s
	}
	if c, ok := errors.AsType[*Cancelled](err); ok {
		return &stop{outcome: item.OutcomeCancelled, reason: "CANCELLED", cause: c.Reason}
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return failed(modelReason(e.Class), "%s", e.Message)
	}
	switch {
	case errors.Is(err, errTurnTime):
		return limit("MAX_TURN_TIME", "the turn reached its limit of %s; submit again to go on", t.Limits.MaxTime)
	case errors.Is(err, ErrShutdown), errors.Is(err, context.Canceled):
		return &stop{outcome: item.OutcomeInterrupted, reason: "SHUTDOWN", cause: ErrShutdown.Error()}
	}
	return failed("INTERNAL", "%v", err)
}

// modelReason is the word for programs of a model's failure.
func modelReason(c llm.Class) string {
	switch c {
	case llm.ClassNoKey:
		return "NO_API_KEY"
	case llm.ClassAuth:
		return "UNAUTHORIZED"
	}
	return strings.ToUpper(string(c))
}

// Interrupted is the stored result of a call whose end nobody saw.
func Interrupted(call item.ToolCall) item.ToolResult {
	return item.ToolResult{CallID: call.CallID, Tool: call.Name, Output: item.Output{
		Summary: "interrupted, may have taken effect; verify before repeating",
		Kind:    item.OutputOther,
		IsError: true,
	}}
}
