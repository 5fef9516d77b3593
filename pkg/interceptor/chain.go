package interceptor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"podd/pkg/item"
)

// Chain calls interceptors in their order: the first listed is the outermost, which
// decides first on input and last on output. The nil Chain continues everywhere. An error
// is a panic of an interceptor.
type Chain []Interceptor

// Immediate says that the chain takes no time for tool calls and never keeps a turn from
// finishing: it has only FileRefs and interceptors that embed RequestsOnly.
func (c Chain) Immediate() bool {
	return !slices.ContainsFunc(c, func(i Interceptor) bool {
		switch i.(type) {
		case FileRefs, interface{ onlyRequests() }:
			return false
		}
		return true
	})
}

// SubmitDecision is a chain's decision on a submit.
type SubmitDecision struct {
	// Text is the user message's text, rewritten or not.
	Text string
	// Items follow the user message, in the order in which they were added.
	Items []item.Item
	// Cancelled says who cancelled the submit and why, in one sentence; empty when it
	// continues.
	Cancelled string
	// Warnings are alerts to raise, whatever the decision; each names its interceptor.
	Warnings []string
}

// PromptSubmit decides on a submit. Later interceptors see a rewritten text; the first
// Cancel ends the chain.
func (c Chain) PromptSubmit(ctx context.Context, s Submit) (SubmitDecision, error) {
	d := SubmitDecision{Text: s.Text}
	for _, i := range c {
		var v SubmitVerdict
		if err := guard(i, func() { v = i.PromptSubmit(ctx, s.clone()) }); err != nil {
			return SubmitDecision{}, err
		}
		d.Warnings = warn(d.Warnings, i, v.warning)
		if v.cancel != "" {
			cancelled := fmt.Sprintf("%s cancelled the submit: %s", i.Name(), v.cancel)
			return SubmitDecision{Text: d.Text, Cancelled: cancelled, Warnings: d.Warnings}, nil
		}
		if v.text != nil {
			s.Text, d.Text = *v.text, *v.text
		}
		d.Items = append(d.Items, v.items...)
	}
	return d, nil
}

// RequestDecision is a chain's decision on a model request.
type RequestDecision struct {
	// Items go into the history before the request is sent.
	Items []item.Item
	// Cancelled and Paused say who stopped the turn and why; at most one is set.
	Cancelled, Paused string
	// By is the interceptor that paused the pod until a time, Until that time, and Again
	// ends the pause earlier; Until is zero for other pauses.
	By    string
	Until time.Time
	Again <-chan struct{}
	// Warnings are alerts to raise.
	Warnings []string
}

// BeforeRequest decides on a model request. The first Cancel or Pause ends the chain.
func (c Chain) BeforeRequest(ctx context.Context, r Request) (RequestDecision, error) {
	var d RequestDecision
	for _, i := range c {
		var v RequestVerdict
		if err := guard(i, func() { v = i.BeforeRequest(ctx, r) }); err != nil {
			return RequestDecision{}, err
		}
		d.Warnings = warn(d.Warnings, i, v.warning)
		d.Items = append(d.Items, v.items...)
		switch {
		case v.cancel != "":
			d.Cancelled = fmt.Sprintf("%s cancelled the turn: %s", i.Name(), v.cancel)
			return d, nil
		case v.pause != "" && !r.lifted(i.Name(), v.until):
			d.Paused = fmt.Sprintf("%s paused the pod: %s", i.Name(), v.pause)
			if !v.until.IsZero() {
				d.By, d.Until, d.Again = i.Name(), v.until, v.again
			}
			return d, nil
		}
	}
	return d, nil
}

// lifted says whether a person ended a pause of this interceptor that lasted as long.
func (r Request) lifted(by string, until time.Time) bool {
	return !until.IsZero() && slices.ContainsFunc(r.Lifted, func(p item.Pause) bool { return p.By == by && !until.After(p.Until) })
}

// TurnDecision is a chain's decision on a turn's end.
type TurnDecision struct {
	// Items go into the history, and the turn takes another step; without items it finishes.
	Items []item.Item
	// Paused says who paused the pod and why.
	Paused string
	// Warnings are alerts to raise.
	Warnings []string
}

// TurnEnd calls all interceptors at a turn's end.
func (c Chain) TurnEnd(ctx context.Context, t Turn) (TurnDecision, error) {
	var d TurnDecision
	for _, i := range c {
		var v TurnVerdict
		if err := guard(i, func() { v = i.TurnEnd(ctx, t) }); err != nil {
			return TurnDecision{}, err
		}
		d.Warnings = warn(d.Warnings, i, v.warning)
		d.Items = append(d.Items, v.items...)
		if v.pause != "" && d.Paused == "" {
			d.Paused = fmt.Sprintf("%s paused the pod: %s", i.Name(), v.pause)
		}
	}
	return d, nil
}

// Aborted calls all interceptors after a turn that did not finish. The error is that of
// the first one that panicked.
func (c Chain) Aborted(ctx context.Context, a Abort) (err error) {
	for _, i := range c {
		if failed := guard(i, func() { i.Aborted(ctx, a) }); err == nil {
			err = failed
		}
	}
	return err
}

func (s Submit) clone() Submit {
	s.Segments = slices.Clone(s.Segments)
	s.Resolved = slices.Clone(s.Resolved)
	return s
}

// warn adds an interceptor's warning, once however often it is repeated.
func warn(warnings []string, i Interceptor, text string) []string {
	if text == "" {
		return warnings
	}
	if text = i.Name() + ": " + text; slices.Contains(warnings, text) {
		return warnings
	}
	return append(warnings, text)
}

// guard turns a panic of an interceptor into an error that names it.
func guard(i Interceptor, ask func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("interceptor %s panicked: %v", i.Name(), r)
		}
	}()
	ask()
	return nil
}
