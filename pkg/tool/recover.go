package tool

import "context"

// Recovers finds the outcome of a call that was running when podd ended; see
// Tool.Recover. Without this option the outcome is unknown.
func Recovers[A any](find func(context.Context, *Invocation, A) (out Output, found bool, err error)) Option[A] {
	return func(t *typed[A]) { t.find = find }
}

// Recover decodes as strictly as Run.
func (t *typed[A]) Recover(ctx context.Context, call *Invocation) (out Output, found bool, err error) {
	if t.find == nil {
		return Output{}, false, nil
	}
	args, err := t.decode(call.Arguments)
	if err != nil {
		return Output{}, false, err
	}
	return t.find(ctx, call, args)
}
