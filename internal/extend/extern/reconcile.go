package extern

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// DefaultReconcileTimeout is the default timeout of a reconciler.
const DefaultReconcileTimeout = 30 * time.Second

// eventReconcile is the event of a reconciler.
const eventReconcile = "reconcile"

// lostInfo is what a reconciler gets of a call besides what an interceptor gets.
type lostInfo struct {
	Digest  string    `json:"digest"`
	Started time.Time `json:"started"`
}

// Reconcile makes commands find out how calls ended. The name of a command is that of its tool. An error is
// of kind KindInvalid, reason EXTENSION.
func (r *Runner) Reconcile(commands []Command) (tool.Reconcile, error) {
	of := make(map[string]Command, len(commands))
	for _, c := range commands {
		if err := c.checkRun(); err != nil {
			return nil, err
		}
		if c.Timeout == 0 {
			c.Timeout = DefaultReconcileTimeout
		}
		of[c.Name] = c
	}
	return func(ctx context.Context, l tool.Lost) (tool.Output, item.Recovery, error) {
		c, ok := of[l.Tool]
		if !ok {
			return tool.Output{}, "", nil
		}
		return r.reconcile(ctx, c, l)
	}, nil
}

// reconcile asks a command how a call ended.
func (r *Runner) reconcile(ctx context.Context, c Command, l tool.Lost) (tool.Output, item.Recovery, error) {
	e := event{Version: Version, Event: eventReconcile, Name: c.Name, Turn: l.Turn, Call: describeCall(l.CallID, l.Key, l.Tool, l.Arguments)}
	e.Call.lostInfo = &lostInfo{Digest: l.Digest(), Started: l.Began.UTC()}
	if process.Find(process.Named(reconcilerOf(l.Digest()))).Stop(grace) > 0 {
		return tool.Output{}, item.RecoveryUnknown, errors.New("its reconciler runs already, for an earlier podd, and cannot be ended")
	}
	var a answer
	var err error
	if e.Pod, err = r.find(ctx, l.Pod); err != nil {
		err = fmt.Errorf("could not find the pod: %w", err)
	} else {
		a, err = r.run(ctx, c, e, maxVerdict)
	}
	if r.base.Err() != nil {
		return tool.Output{}, "", tool.ErrGoesOn
	}
	if err == nil && a.status != 0 {
		err = fmt.Errorf("ended with exit status %d%s", a.status, lastLine(a.stderr))
	}
	var o outcome
	if err == nil {
		o, err = parseOutcome(a.stdout, l.Digest())
	}
	if err != nil {
		return tool.Output{}, item.RecoveryUnknown, fmt.Errorf("its reconciler %w", err)
	}
	return o.result(l.Tool)
}

// reconcilerOf names the processes of the reconciler of a call. One that outlives a killed podd ends before the next podd
// asks again.
func reconcilerOf(digest string) string { return "reconcile-" + digest }

// outcome is a reconciler's answer.
type outcome struct{ word, output string }

// The outcomes that a reconciler can answer.
const (
	outcomeDone    = "done"
	outcomeNotDone = "not_done"
	outcomeUnknown = "unknown"
)

// parseOutcome reads an answer about the call with this digest, as strictly as a verdict.
func parseOutcome(text, digest string) (o outcome, err error) {
	invalid := func(err error) (outcome, error) { return o, fmt.Errorf("wrote an invalid answer: %w", err) }
	fields, err := parseObject([]byte(text))
	if err != nil {
		return invalid(err)
	}
	if err := checkVersion(fields); err != nil {
		return invalid(err)
	}
	var call string
	if err := cmp.Or(decodeField(fields, "call", &call), decodeField(fields, "outcome", &o.word)); err != nil {
		return invalid(err)
	}
	if call != digest {
		return o, errors.New("answered for another call")
	}
	if !slices.Contains([]string{outcomeDone, outcomeNotDone, outcomeUnknown}, o.word) {
		return invalid(fmt.Errorf("unknown outcome %q: use %q, %q or %q", clip(o.word), outcomeDone, outcomeNotDone, outcomeUnknown))
	}
	if fields["output"] != nil {
		if err := decodeField(fields, "output", &o.output); err != nil {
			return invalid(err)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		return invalid(fmt.Errorf("unknown field %q: use call, outcome and output", clip(field)))
	}
	return o, nil
}

// result is what the model reads.
func (o outcome) result(name string) (tool.Output, item.Recovery, error) {
	out := item.Output{Kind: item.OutputOther, Content: o.output}
	switch o.word {
	case outcomeDone:
		out.Summary = name + ": done: podd ended during the call, and its reconciler found that it took effect"
		return out, item.RecoveryFound, nil
	case outcomeNotDone:
		out.Summary = name + ": not done: podd ended during the call, and its reconciler found no effect; call again if it is still needed"
		out.IsError = true
		return out, item.RecoveryNoEffect, nil
	}
	return out, item.RecoveryUnknown, errors.New("its reconciler does not know")
}
