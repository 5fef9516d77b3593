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

// Repeats is Recovers for a tool that changes nothing but what the result of its call
// records: the call runs again.
func Repeats[A any]() Option[A] {
	return func(t *typed[A]) {
		t.find = func(ctx context.Context, call *Invocation, args A) (Output, item.Recovery, error) {
			out, err := t.run(ctx, call, args)
			return out, item.RecoveryAgain, err
		}
	}
}

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
