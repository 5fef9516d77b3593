package tool

import (
	"context"

	"podd/pkg/item"
)

// Output is what a tool answers; see item.Output.
type Output = item.Output

// Tool is something that a model can call. Implementations are safe for
// concurrent calls: the calls of one step run in parallel.
type Tool interface {
	// Spec names the tool and describes it to the model.
	Spec() item.ToolSpec
	// Check validates arguments as the model wrote them and encodes them again, in
	// the one form that policy and Run see. Its error says which field is wrong
	// and what to write instead; the model reads it.
	Check(arguments string) (canonical string, err error)
	// Access says what a call with arguments that Check returned touches.
	Access(arguments string) Access
	// Run does the work of a call. A failure that the model should know of is an
	// Output with IsError, or an error, which becomes one. Run returns soon after
	// ctx ends, with nothing left running.
	Run(ctx context.Context, call *Invocation) (Output, error)
	// Recover says what became of a call that a podd started which then was killed. It
	// waits, as Run does, for what still goes on, and never starts the work again.
	// found is false when nobody can know; then the model is told that the call may
	// have taken effect.
	Recover(ctx context.Context, call *Invocation) (out Output, found bool, err error)
}
