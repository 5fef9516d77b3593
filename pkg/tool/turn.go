package tool

import (
	"context"
	"errors"

	"podd/pkg/item"
)

// ErrGoesOn is what Run and Recover return when podd stops and the work of the call goes
// on without it. The call stays open: Recover is asked about it when podd is back.
var ErrGoesOn = errors.New("podd stops, and the work of the call goes on when it is back")

// Turn is the turn that a tool works for, as a tool has to know it that makes requests of
// models itself. Its methods may be called from any goroutine until the call ends.
type Turn interface {
	// Left is what the turn and its pod may still use; a zero field has no limit. The
	// error says, in one sentence, which limit is reached already.
	Left() (item.PodLimits, error)
	// Bill records what requests were billed that the tool caused. It is stored with the
	// call's result and counts against the limits of the turn and its pod.
	Bill(u item.RequestUsage)
	// Waits says that the tool does nothing but wait from now on, or works again: waiting
	// does not count against the time of the turn. A tool works when it begins.
	Waits(waiting bool)
}

type turnKey struct{}

// WithTurn lets the tool that is run or recovered with ctx know its turn.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnFrom is the turn that a tool works for; outside of one a Turn without limits that
// records nothing.
func TurnFrom(ctx context.Context) Turn {
	if t, ok := ctx.Value(turnKey{}).(Turn); ok {
		return t
	}
	return noTurn{}
}

type noTurn struct{}

// Left has no limits.
func (noTurn) Left() (item.PodLimits, error) { return item.PodLimits{}, nil }

// Bill does nothing.
func (noTurn) Bill(item.RequestUsage) {}

// Waits does nothing.
func (noTurn) Waits(bool) {}
