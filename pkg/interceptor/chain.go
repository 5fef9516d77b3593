package interceptor

import (
	"context"
	"fmt"
	"slices"

	"podd/pkg/item"
)

// Chain asks interceptors in their order: the first listed is the outermost. The
// nil Chain continues everywhere.
type Chain []Interceptor

// Decision is what a chain made of a submit.
type Decision struct {
	// Text is the user message's text, rewritten or not.
	Text string
	// Items follow the user message, in the order in which they were added.
	Items []item.Item
	// Cancelled says who cancelled the submit and why, in one sentence; empty when
	// it goes on.
	Cancelled string
}

// PromptSubmit asks about a submit. A rewritten text is what later interceptors
// see; the first Cancel ends the asking. An error is a panic of an interceptor.
func (c Chain) PromptSubmit(ctx context.Context, s Submit) (Decision, error) {
	d := Decision{Text: s.Text}
	for _, i := range c {
		var v SubmitVerdict
		if err := guard(i, func() { v = i.PromptSubmit(ctx, s.clone()) }); err != nil {
			return Decision{}, err
		}
		if v.cancel != "" {
			return Decision{Text: d.Text, Cancelled: fmt.Sprintf("%s cancelled the submit: %s", i.Name(), v.cancel)}, nil
		}
		if v.text != nil {
			s.Text, d.Text = *v.text, *v.text
		}
		d.Items = append(d.Items, v.items...)
	}
	return d, nil
}

// BeforeTool asks about a tool call. It returns who denied it and why, or "". The
// first Deny ends the asking.
func (c Chain) BeforeTool(ctx context.Context, call Call) (denied string, err error) {
	for _, i := range c {
		var v CallVerdict
		if err := guard(i, func() { v = i.BeforeTool(ctx, call) }); err != nil {
			return "", err
		}
		if v.deny != "" {
			return fmt.Sprintf("denied by %s: %s", i.Name(), v.deny), nil
		}
	}
	return "", nil
}

// TurnEnd asks about a turn's end. The items of all interceptors are returned in
// their order; none means that the turn finishes.
func (c Chain) TurnEnd(ctx context.Context, t Turn) ([]item.Item, error) {
	var items []item.Item
	for _, i := range c {
		var v TurnVerdict
		if err := guard(i, func() { v = i.TurnEnd(ctx, t) }); err != nil {
			return nil, err
		}
		items = append(items, v.items...)
	}
	return items, nil
}

func (s Submit) clone() Submit {
	s.Segments = slices.Clone(s.Segments)
	s.Resolved = slices.Clone(s.Resolved)
	return s
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
