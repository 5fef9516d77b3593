package interceptor

import (
	"context"
	"fmt"
	"slices"

	"podd/pkg/item"
)

// Chain asks interceptors in their order: the first listed is the outermost, so it is
// asked first about what goes in and last about what comes out. The nil Chain
// continues everywhere. An error is a panic of an interceptor.
type Chain []Interceptor

// Immediate says that asking the chain about tool calls takes no time and that it never
// keeps a turn from finishing: it has none but podd's own interceptors.
func (c Chain) Immediate() bool {
	return !slices.ContainsFunc(c, func(i Interceptor) bool { _, own := i.(FileRefs); return !own })
}

// SubmitDecision is what a chain made of a submit.
type SubmitDecision struct {
	// Text is the user message's text, rewritten or not.
	Text string
	// Items follow the user message, in the order in which they were added.
	Items []item.Item
	// Cancelled says who cancelled the submit and why, in one sentence; empty when
	// it goes on.
	Cancelled string
	// Warnings are alerts to raise, whatever was decided; each names who warns.
	Warnings []string
}

// PromptSubmit asks about a submit. A rewritten text is what later interceptors
// see; the first Cancel ends the asking.
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

// RequestDecision is what a chain made of a model request.
type RequestDecision struct {
	// Items go into the history before the request is sent.
	Items []item.Item
	// Cancelled and Paused say who stopped the turn and why; at most one is set.
	Cancelled, Paused string
	// Warnings are alerts to raise.
	Warnings []string
}

// BeforeRequest asks about a model request. The first Cancel or Pause ends the asking.
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
		case v.pause != "":
			d.Paused = fmt.Sprintf("%s paused the pod: %s", i.Name(), v.pause)
			return d, nil
		}
	}
	return d, nil
}

// TurnDecision is what a chain made of a turn's end.
type TurnDecision struct {
	// Items go into the history, and the turn takes another step; none means that it
	// finishes.
	Items []item.Item
	// Paused says who holds the pod and why.
	Paused string
	// Warnings are alerts to raise.
	Warnings []string
}

// TurnEnd asks all interceptors about a turn's end.
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

// Aborted tells all interceptors that a turn did not finish. The error is that of the
// first that panicked.
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

// warn adds what an interceptor warns of, once however often it does.
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
