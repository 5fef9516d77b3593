package tool

import "context"

// Call says which call of which turn a tool works for.
type Call struct {
	// Pod is the pod's id, Turn the turn's number from 1.
	Pod  string
	Turn int64
	// CallID is unique in the pod's log.
	CallID string
	// Approved says that a person has agreed to exactly this call.
	Approved bool
	// Targets are those of the Access that the call was decided on with.
	Targets []Target
}

type callKey struct{}

// WithCall lets the tool that is run or recovered with ctx know its call.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom is the call that a tool works for; the zero Call outside of a turn.
func CallFrom(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}
