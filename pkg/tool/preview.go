package tool

import (
	"context"

	"podd/pkg/item"
)

// Previewer is a Tool that can say what a call would do. New's tools are Previewers.
type Previewer interface {
	Tool
	// Preview is what the call would do now, decided by the code that Run uses. It reads what
	// Run reads, and changes nothing. A tool that cannot say gives the zero Preview.
	Preview(ctx context.Context, call *Invocation) (Preview, error)
	// Plan is which files the call would change now, for Recover after a kill; empty for a tool
	// that cannot say. A call that would fail leaves its files as they are.
	Plan(ctx context.Context, call *Invocation) []item.PlannedChange
}

// Preview is what a call would do if it ran now.
type Preview struct {
	// Files are what it would make of files, one each.
	Files []item.Preview
	// Fails is the answer of a call that cannot do its work; nil for one that can.
	Fails *Output
}

// Previews lets a tool say what its calls would do. Run must return ErrChanged for a call with
// [Invocation.Agreed] if a file has another content than in its preview.
func Previews[A any](preview func(context.Context, *Invocation, A) (Preview, error)) Option[A] {
	return func(t *typed[A]) { t.preview = preview }
}

// Preview decodes as strictly as Run.
func (t *typed[A]) Preview(ctx context.Context, call *Invocation) (Preview, error) {
	if t.preview == nil {
		return Preview{}, nil
	}
	args, err := t.decode(call.Arguments)
	if err != nil {
		return Preview{}, err
	}
	return t.preview(ctx, call, args)
}

// Plans lets a tool say which files its calls change.
func Plans[A any](plan func(context.Context, *Invocation, A) []item.PlannedChange) Option[A] {
	return func(t *typed[A]) { t.plan = plan }
}

// Plan decodes as strictly as Run.
func (t *typed[A]) Plan(ctx context.Context, call *Invocation) []item.PlannedChange {
	if t.plan == nil {
		return nil
	}
	args, err := t.decode(call.Arguments)
	if err != nil {
		return nil
	}
	return t.plan(ctx, call, args)
}
