package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/tool"
)

// Cancelled is the cause for cancelling a turn's context when a person ends the turn, or
// podd does.
type Cancelled struct {
	// Reason is one sentence, shown as the turn's cause.
	Reason string
	// ByPodd says that podd ends the turn, which an alert tells.
	ByPodd bool
}

// Error is the reason.
func (c *Cancelled) Error() string { return c.Reason }

// ErrShutdown is the cause for cancelling a turn's context when podd stops. The turn
// resumes when podd restarts.
var ErrShutdown = errors.New("podd was stopped in the middle of the turn")

// ErrRestart is an ErrShutdown after which podd starts again at once.
var ErrRestart = fmt.Errorf("%w: %w", ErrShutdown, tool.ErrLeave)

// stop is why a turn ends without having finished.
type stop struct {
	outcome item.Outcome
	reason  string
	cause   string
	// silent ends raise no alert: a person asked for them.
	silent bool
}

// Error is the cause.
func (s *stop) Error() string { return s.cause }

func failed(reason, format string, args ...any) *stop {
	return &stop{outcome: item.OutcomeFailed, reason: reason, cause: fmt.Sprintf(format, args...)}
}

func limit(reason, format string, args ...any) *stop {
	return &stop{outcome: item.OutcomeLimit, reason: reason, cause: fmt.Sprintf(format, args...)}
}

// end stores a result for every open call and then the terminal entry, if it is not
// already stored. It leaves a turn open that podd's own stop ends.
func (t *run) end(ctx context.Context, err error) error {
	if t.j.over() {
		return nil
	}
	s, leave := t.classify(ctx, err)
	if leave {
		t.j.logger.Info("turn left open", "step", t.j.step)
		return nil
	}
	var b Batch
	spent := t.j.billed()
	if !t.claimed {
		// The journal's state is that of the previous turn.
		b, spent = t.bareClaim(), fold.Turn{}
	}
	if shown := t.asker.partial; shown != nil {
		b.Done = shown.blockIDs()
		if text := shown.spoken(); text != "" && s != nil && s.outcome == item.OutcomeCancelled {
			// Text that the person has read stays in the conversation.
			b.Kinds = append(b.Kinds, item.ItemAdded{Item: item.AssistantMessage{Text: text}})
		}
	}
	for _, c := range t.j.now.Turn.Calls {
		b.Done = append(b.Done, outputBlock(c.CallID))
	}
	b.Open = t.caller.closing
	b.Kinds = append(b.Kinds, t.caller.saver.close(ctx)...)
	b.Kinds = append(b.Kinds, t.caller.saver.leave(ctx)...)
	b.Kinds = append(b.Kinds, t.terminal(s, spent)...)
	if s != nil {
		t.aborts(ctx, s)
	}
	return storeResults(t.caller.ended, func() error { return t.j.commit(context.WithoutCancel(ctx), b) })
}

// keepEnded keeps the results of calls for the end of the turn.
func (t *caller) keepEnded(calls []*call) {
	for _, c := range calls {
		if c.state == callEnded {
			t.ended = append(t.ended, c)
		}
	}
}

// closing are the results of the calls that are open when their turn ends: whole ones, as far as the tools gave them.
func (t *caller) closing(turn *fold.Turn, whole bool) (kinds []item.Kind) {
	for _, open := range turn.Calls {
		if i := slices.IndexFunc(t.ended, func(c *call) bool { return c.CallID == open.CallID }); i >= 0 && whole {
			kinds = append(kinds, t.came(t.ended[i])...)
		} else {
			kinds = append(kinds, item.ItemAdded{Item: unfinished(open, turn)})
		}
	}
	return kinds
}

// unfinished is the result of a call that has none when its turn ends. It says what a person answered.
func unfinished(c fold.Call, turn *fold.Turn) item.ToolResult {
	r := item.ToolResult{CallID: c.CallID, Tool: c.Name}
	q := turn.Question(c.CallID)
	switch {
	case c.Started != nil:
		r.Output, r.Recovery = interrupted(c.CallID, turn), item.RecoveryUnknown
		return r
	case q != nil && q.IsOpen():
		r.Summary = c.Name + ": not run: the turn ended before a person approved the call"
	case q != nil && q.Answer != nil && !q.Answer.Approved:
		r.Summary, r.Denied = denial(c.Name, q.Answer), true
	default:
		r.Summary = c.Name + ": not run: the turn ended first"
	}
	r.Kind, r.IsError = item.OutputOther, true
	return r
}

// denial says that a call did not run because a person, or time, denied it.
func denial(name string, r *item.ApprovalResolved) string {
	by := fmt.Sprintf("%s: not run: denied by %s", name, r.By)
	if r.Reason != "" {
		by += ": " + r.Reason
	}
	return by
}

// abortTime bounds the interceptors' time for an abort.
const abortTime = 5 * time.Second

// aborts reports to interceptors and hooks that the turn does not finish.
func (t *run) aborts(ctx context.Context, s *stop) {
	t.j.observe(hook.Edge{Name: hook.EdgeAborted, Text: s.cause, Decision: string(s.outcome)})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	err := t.w.Chain.Aborted(ctx, interceptor.Abort{Pod: t.w.Pod, Turn: t.j.turn.Number, Outcome: s.outcome, Reason: s.reason, Cause: s.cause})
	if err != nil {
		t.j.logger.Error("interceptor failed", "error", err)
	}
}

// bareClaim takes the submits without giving the model anything.
func (t *run) bareClaim() Batch {
	started := item.TurnStarted{Plan: t.j.turn.Plan, AnswerSchema: t.j.turn.AnswerSchema, NoQuestions: t.j.turn.NoQuestions}
	var b Batch
	for _, s := range t.j.turn.Submits {
		started.RequestIDs = append(started.RequestIDs, s.RequestID)
		b.Claims = append(b.Claims, s.Seq)
	}
	b.Kinds = []item.Kind{started}
	if len(t.j.turn.Submits) == 0 {
		// The notes started this turn; they must not start another.
		b.Kinds = append(b.Kinds, notes(t.j.turn.Notes)...)
	}
	return b
}

// terminal is the terminal entry, after the alert about it if nobody expects the end: s is
// nil for a finished turn, spent is the turn's state including all bills.
func (t *run) terminal(s *stop, spent fold.Turn) []item.Kind {
	end := item.TurnEnded{Outcome: item.OutcomeFinished, Usage: spent.Spent.Usage, Steps: spent.Requests, ToolCalls: spent.ToolCalls}
	if spent.Spent.Unpriced == 0 {
		end.Cost = spent.Spent.Cost
	}
	if s == nil {
		return []item.Kind{end}
	}
	end.Outcome, end.Reason, end.Cause = s.outcome, s.reason, t.w.Output.Redact(s.cause)
	if s.silent {
		return []item.Kind{end}
	}
	level := map[item.Outcome]item.Level{
		item.OutcomeFailed: item.LevelError, item.OutcomeInterrupted: item.LevelError,
		item.OutcomeLimit: item.LevelWarn, item.OutcomeCancelled: item.LevelInfo,
	}[s.outcome]
	return []item.Kind{t.ended(level, fmt.Sprintf("turn %d ended: %s", t.j.turn.Number, s.cause)), end}
}

// ended is the alert beside the terminal entry.
func (t *run) ended(level item.Level, text string) item.AlertRaised {
	a := t.j.alert(level, text)
	a.Alert.Reason = item.ReasonTurnEnded
	return a
}

// classify says how an error ends the turn; nil means that it finished. leave says that
// it does not end, because podd stops.
func (t *run) classify(ctx context.Context, err error) (s *stop, leave bool) {
	if err == nil {
		return nil, false
	}
	if ctx.Err() != nil {
		// Any failure is because the turn was ended.
		err = context.Cause(ctx)
	}
	if s, ok := errors.AsType[*stop](err); ok {
		return s, false
	}
	if c, ok := errors.AsType[*Cancelled](err); ok {
		return &stop{outcome: item.OutcomeCancelled, reason: "CANCELLED", cause: c.Reason, silent: !c.ByPodd}, false
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return failed(modelReason(e.Class), "%s", e.Message), false
	}
	switch {
	case errors.Is(err, errTurnTime):
		return limit("MAX_TURN_TIME", "the turn reached its limit of %s; submit again to continue", t.w.Limits.MaxTime), false
	case errors.Is(err, ErrShutdown), errors.Is(err, context.Canceled):
		return nil, true
	}
	return failed("INTERNAL", "%v", err), false
}

// modelReason is the reason of a model's failure, for programs.
func modelReason(c llm.Class) string {
	switch c {
	case llm.ClassNoKey:
		return "NO_API_KEY"
	case llm.ClassAuth:
		return "UNAUTHORIZED"
	}
	return strings.ToUpper(string(c))
}

// interrupted is the output of a call whose end podd did not see. It says what a person answered the call, but not what an MCP server
// learned by that.
func interrupted(callID string, turn *fold.Turn) tool.Output {
	out := tool.Output{Summary: "interrupted; it may have taken effect: check before you repeat it", Kind: item.OutputOther, IsError: true}
	for _, q := range turn.Questions {
		if q.CallID != callID || q.Form == nil || q.Answer == nil || q.Answer.Withdrawn {
			continue
		}
		answer := *q.Answer
		if answer.Approved && q.Form.From != "" {
			answer.Reason = ""
		} else {
			out.Content += q.Form.Told(answer.Replies)
		}
		out.Summary = tool.Bound(out.Summary + "; its question was " + answer.How())
	}
	return out
}
