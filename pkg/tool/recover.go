package tool

import (
	"context"

	"podd/pkg/item"
)

// Recovers finds the outcome of a call that was running when podd ended; see
// Tool.Recover. Without this option or Repeats the outcome is unknown.
func Recovers[A any](find func(context.Context, *Invocation, A) (out Output, how item.Recovery, err error)) Option[A] {
	return func(t *typed[A]) { t.find = find }
}

// Repeater is a Tool that says whether its calls may run again after a kill. New's and
// NewForeign's tools are Repeaters.
type Repeater interface {
	Tool
	// Repeats says that a call changes nothing but what its result records: one that podd's end
	// interrupted is decided on again, and runs again.
	Repeats() bool
}

// Repeats makes the calls of a tool run again; see Repeater.
func Repeats[A any]() Option[A] { return func(t *typed[A]) { t.repeats = true } }

// Repeats is as the option said.
func (t *typed[A]) Repeats() bool { return t.repeats }

// Recover decodes as strictly as Run.
func (t *typed[A]) Recover(ctx context.Context, call *Invocation) (out Output, how item.Recovery, err error) {
	if t.find == nil {
		return Output{}, item.RecoveryUnknown, nil
	}
	args, err := t.decode(call.Arguments)
	if err != nil {
		return Output{}, item.RecoveryUnknown, err
	}
	return t.find(ctx, call, args)
}
