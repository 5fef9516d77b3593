package extern

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// OnFailure is the verdict if a command gives none, because it timed out, for example, or
// wrote an invalid verdict.
type OnFailure string

// Allow continues, and Deny stops: a submit or request is cancelled, a call is denied, an
// output is withheld, and the pod is paused before its turn ends. The empty OnFailure is
// Deny for tool calls and Allow elsewhere.
const (
	Allow OnFailure = "allow"
	Deny  OnFailure = "deny"
)

// Edges are what an interceptor's command may run for.
func Edges() []string {
	return []string{
		string(hook.EdgePromptSubmit), string(hook.EdgeBeforeRequest), string(hook.EdgeBeforeTool),
		string(hook.EdgeAfterTool), string(hook.EdgeTurnEnd), string(hook.EdgeAborted),
	}
}

// Interceptor asks a command. A command that gives different answers to the same event
// breaks the contract of interceptors; podd can't prevent that.
type Interceptor struct {
	interceptor.Base
	runner    *Runner
	command   Command
	onFailure OnFailure
}

// Interceptor creates an interceptor from a command, with the default timeout
// DefaultInterceptorTimeout. An error is of kind KindInvalid, reason EXTENSION.
func (r *Runner) Interceptor(c Command, f OnFailure) (*Interceptor, error) {
	if err := c.check(Edges()); err != nil {
		return nil, err
	}
	if f != "" && f != Allow && f != Deny {
		return nil, bad("%s: on_failure is %q: it must be \"allow\" or \"deny\"", c.Name, f)
	}
	if err := c.checkHistory(); err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultInterceptorTimeout
	}
	return &Interceptor{runner: r, command: c, onFailure: f}, nil
}

// Name is the command's name.
func (i *Interceptor) Name() string { return i.command.Name }

// PromptSubmit asks the command. Exit status 2 cancels.
func (i *Interceptor) PromptSubmit(ctx context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	v := i.ask(ctx, hook.EdgePromptSubmit, s.Pod, event{Submit: describeSubmit(s), past: &s.Conversation})
	switch {
	case v.failed && v.stops, v.refuses, v.word == "cancel":
		return s.Cancel(v.reason).Warn(v.warning)
	case v.word == "continue_with":
		return s.ContinueWith(v.items...)
	case v.word == "rewrite":
		return s.Rewrite(v.text)
	}
	return s.Continue().Warn(v.warning)
}

// BeforeRequest asks the command. Exit status 2 cancels.
func (i *Interceptor) BeforeRequest(ctx context.Context, r interceptor.Request) interceptor.RequestVerdict {
	v := i.ask(ctx, hook.EdgeBeforeRequest, r.Pod, event{Turn: r.Turn, Request: describeRequest(r), past: &r.Conversation})
	switch {
	case v.failed && v.stops, v.refuses, v.word == "cancel":
		return r.Cancel(v.reason).Warn(v.warning)
	case v.word == "continue_with":
		return r.ContinueWith(v.items...)
	case v.word == "pause":
		return r.Pause(v.reason)
	}
	return r.Continue().Warn(v.warning)
}

// BeforeTool asks the command. Exit status 2 denies.
func (i *Interceptor) BeforeTool(ctx context.Context, c interceptor.Call) interceptor.CallVerdict {
	v := i.ask(ctx, hook.EdgeBeforeTool, c.Pod, event{Turn: c.Turn, Call: describeCall(c.CallID, c.Key, c.Tool, c.Arguments)})
	switch {
	case v.failed && v.stops, v.refuses, v.word == "deny":
		return c.Deny(v.reason).Warn(v.warning)
	case v.word == "rewrite":
		return c.Rewrite(v.arguments)
	case v.word == "result":
		return c.Result(v.output.over(item.Output{Kind: item.OutputOther}))
	case v.word == "ask":
		return c.Ask(v.reason)
	case v.word == "abort":
		return c.Abort(v.reason)
	}
	return c.Continue().Warn(v.warning)
}

// AfterTool asks the command. Exit status 2 adds its standard error to the output.
func (i *Interceptor) AfterTool(ctx context.Context, r interceptor.Result) interceptor.ResultVerdict {
	v := i.ask(ctx, hook.EdgeAfterTool, r.Pod, event{
		Turn: r.Turn, Call: describeCall(r.CallID, r.Key, r.Tool, r.Arguments), Output: describeOutput(r.Output),
	})
	switch {
	case v.failed && v.stops:
		withheld := tool.Error("the output is withheld: %s %s", i.Name(), v.reason)
		return r.Replace(withheld).Warn(v.warning)
	case v.refuses:
		out := r.Output
		out.Content = strings.TrimPrefix(out.Content+"\n", "\n") + fmt.Sprintf("[%s]\n%s", i.Name(), v.reason)
		return r.Replace(out)
	case v.word == "replace":
		return r.Replace(v.output.over(r.Output))
	case v.word == "abort":
		return r.Abort(v.reason)
	}
	return r.Continue().Warn(v.warning)
}

// TurnEnd asks the command. Exit status 2 sends its standard error to the model.
func (i *Interceptor) TurnEnd(ctx context.Context, t interceptor.Turn) interceptor.TurnVerdict {
	v := i.ask(ctx, hook.EdgeTurnEnd, t.Pod, event{
		Turn: t.Turn, End: &endInfo{Steps: t.Steps, Answer: t.Answer}, past: &t.Conversation,
	})
	switch {
	case v.failed && v.stops, v.word == "pause":
		return t.Pause(v.reason).Warn(v.warning)
	case v.refuses:
		return t.ContinueWith(message(v.reason))
	case v.word == "continue_with":
		return t.ContinueWith(v.items...)
	}
	return t.Finish().Warn(v.warning)
}

// Aborted informs the command. Its output and exit status are ignored.
func (i *Interceptor) Aborted(ctx context.Context, a interceptor.Abort) {
	i.ask(ctx, hook.EdgeAborted, a.Pod, event{
		Turn: a.Turn, Abort: &abortInfo{Outcome: string(a.Outcome), Reason: a.Reason, Cause: a.Cause},
	})
}

// decision is a verdict, or its replacement.
type decision struct {
	verdict
	// refuses says that the command ended with exit status 2; reason is its standard error.
	refuses bool
	// failed says that the command gave no verdict, stops that on_failure is Deny. reason and
	// warning say what failed; warning is empty if the command was not at fault.
	failed, stops bool
	warning       string
}

// ask runs the command for an event, if it is in its list.
func (i *Interceptor) ask(ctx context.Context, edge hook.EdgeName, pod string, e event) decision {
	if !slices.Contains(i.command.On, string(edge)) {
		return decision{}
	}
	e.Version, e.Event, e.Name = Version, string(edge), i.Name()
	var err error
	if e.Pod, err = i.runner.find(ctx, pod); err != nil {
		return i.fail(edge, e, answer{}, fmt.Errorf("could not find the pod: %w", err))
	}
	if err := e.recall(i.command.History); err != nil {
		if ctx.Err() != nil {
			err = errCut
		}
		return i.fail(edge, e, answer{}, fmt.Errorf("could not read the history: %w", err))
	}
	a, err := i.runner.run(ctx, i.command, e, maxVerdict)
	if err != nil {
		return i.fail(edge, e, a, err)
	}
	switch {
	case a.status == refusal && edge != hook.EdgeAborted:
		return decision{refuses: true, verdict: verdict{reason: i.refusal(edge, a.stderr)}}
	case a.status != 0:
		return i.fail(edge, e, a, fmt.Errorf("ended with exit status %d%s", a.status, lastLine(a.stderr)))
	case edge == hook.EdgeAborted:
		return decision{}
	}
	v, err := parseVerdict(edge, a.stdout)
	if err != nil {
		return i.fail(edge, e, a, fmt.Errorf("wrote an invalid verdict: %w", err))
	}
	return decision{verdict: v}
}

// refusal is the exit status of a command that refuses; its standard error is the reason. So
// `make lint >&2 || exit 2` is a whole interceptor.
const refusal = 2

func (i *Interceptor) refusal(edge hook.EdgeName, stderr string) string {
	text := strings.TrimSpace(stderr)
	switch {
	case text == "":
		// A turn that continues needs text for the model.
		return i.Name() + " gave no reason"
	case edge == hook.EdgeTurnEnd || edge == hook.EdgeAfterTool:
		return cut(text, maxFeedbackBytes)
	}
	return reason(text)
}

// fail is the decision if a command gave no verdict.
func (i *Interceptor) fail(edge hook.EdgeName, e event, a answer, why error) decision {
	d := decision{failed: true, stops: i.onFailure == Deny || i.onFailure == "" && edge == hook.EdgeBeforeTool}
	d.reason = why.Error()
	if errors.Is(why, errCut) || errors.Is(why, errClosed) {
		return d
	}
	then := fmt.Sprintf("it was skipped at %s (on_failure = %q)", edge, Allow)
	if d.stops {
		then = fmt.Sprintf("%s (on_failure = %q)", stopped(edge), Deny)
	}
	d.warning = fmt.Sprintf("%v; %s", why, then)
	i.runner.Logger.Warn("interceptor failed", "interceptor", i.Name(), "event", edge, "pod", e.Pod.ID, "turn", e.Turn,
		"error", why, "stops", d.stops, "stderr", cut(a.stderr, maxReasonBytes))
	return d
}

// stopped is the effect of Deny on an edge.
func stopped(edge hook.EdgeName) string {
	switch edge {
	case hook.EdgePromptSubmit:
		return "the submit was cancelled"
	case hook.EdgeBeforeRequest:
		return "the turn was cancelled"
	case hook.EdgeBeforeTool:
		return "the call was denied"
	case hook.EdgeAfterTool:
		return "the output was withheld"
	}
	return "the pod was paused"
}

// over is an output with the fields that the command replaced.
func (o outputVerdict) over(out item.Output) item.Output {
	if o.summary != nil {
		out.Summary = *o.summary
	}
	if o.content != nil {
		// The cut belonged to the old content.
		out.Content, out.Cut = tool.Repair(*o.content), nil
	}
	if o.isError != nil {
		out.IsError = *o.isError
	}
	if out.Summary == "" {
		plain := tool.FromString(out.Content)
		out.Summary = plain.Summary
		if plain.Content == "" {
			out.Content = ""
		}
	}
	return out
}
