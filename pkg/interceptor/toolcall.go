package interceptor

import (
	"context"
	"fmt"
	"slices"

	"podd/pkg/item"
)

// maxRounds bounds how often a chain decides on one call whose arguments keep changing.
const maxRounds = 8

// CallDecision is a chain's decision on a tool call. At most one of Denied, Result and
// Aborted is set; Ask applies when none of them is.
type CallDecision struct {
	// Arguments are what every interceptor agreed to, in canonical form.
	Arguments string
	// Denied says who denied the call and why.
	Denied string
	// Result answers the call without running it.
	Result *item.Output
	// Ask says which interceptors want a person to agree, and why; empty without one.
	Ask []string
	// Aborted says who ended the turn and why.
	Aborted string
	// Warnings are alerts to raise.
	Warnings []string
}

// Check validates arguments and brings them to canonical form.
type Check func(arguments string) (canonical string, err error)

// BeforeTool decides on a tool call; the first Deny, Result or Abort ends the chain.
// After a rewrite the chain starts again, so that no interceptor misses the arguments
// that run; rewrites that never settle deny the call.
func (c Chain) BeforeTool(ctx context.Context, call Call, check Check) (CallDecision, error) {
	var warnings []string
	for range maxRounds {
		d, err := c.round(ctx, call, check, warnings)
		if err != nil || d.Arguments == call.Arguments {
			return d, err
		}
		call.Arguments, warnings = d.Arguments, d.Warnings
	}
	return CallDecision{
		Arguments: call.Arguments,
		Denied:    "denied: interceptors kept rewriting the arguments and did not agree",
		Warnings:  warnings,
	}, nil
}

// round calls each interceptor until one decides or rewrites. If the arguments of its
// decision differ from the call's, another round follows. warnings are those of earlier
// rounds.
func (c Chain) round(ctx context.Context, call Call, check Check, warnings []string) (CallDecision, error) {
	d := CallDecision{Arguments: call.Arguments, Warnings: warnings}
	for _, i := range c {
		var v CallVerdict
		if err := guard(i, func() { v = i.BeforeTool(ctx, call) }); err != nil {
			return d, err
		}
		d.Warnings = warn(d.Warnings, i, v.warning)
		switch {
		case v.deny != "":
			d.Denied = fmt.Sprintf("denied by %s: %s", i.Name(), v.deny)
			return d, nil
		case v.abort != "":
			d.Aborted = fmt.Sprintf("%s ended the turn: %s", i.Name(), v.abort)
			return d, nil
		case v.result != nil:
			d.Result = v.result
			return d, nil
		case v.ask != "":
			d.Ask = append(d.Ask, fmt.Sprintf("%s asks: %s", i.Name(), v.ask))
		case v.arguments != nil:
			arguments, err := check(*v.arguments)
			if err != nil {
				d.Denied = fmt.Sprintf("denied: %s rewrote the arguments to invalid ones: %v", i.Name(), err)
				return d, nil
			}
			if arguments != call.Arguments {
				d.Arguments = arguments
				return d, nil
			}
		}
	}
	return d, nil
}

// ResultDecision is a chain's decision on a call's output.
type ResultDecision struct {
	Output item.Output
	// Aborted says who ended the turn and why; empty when it continues.
	Aborted string
	// Warnings are alerts to raise.
	Warnings []string
}

// AfterTool decides on a call's output, the innermost interceptor first. Each sees the
// replacement of the one before; all are called, whatever one decides.
func (c Chain) AfterTool(ctx context.Context, r Result) (ResultDecision, error) {
	d := ResultDecision{Output: r.Output}
	for _, i := range slices.Backward(c) {
		var v ResultVerdict
		r.Output = clone(d.Output)
		if err := guard(i, func() { v = i.AfterTool(ctx, r) }); err != nil {
			return d, err
		}
		d.Warnings = warn(d.Warnings, i, v.warning)
		if v.output != nil {
			d.Output = *v.output
		}
		if v.abort != "" && d.Aborted == "" {
			d.Aborted = fmt.Sprintf("%s ended the turn: %s", i.Name(), v.abort)
		}
	}
	return d, nil
}

func clone(o item.Output) item.Output {
	if o.Cut != nil {
		cut := *o.Cut
		o.Cut = &cut
	}
	return o
}
