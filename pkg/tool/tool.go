package tool

import (
	"context"

	"podd/pkg/item"
)

// Output is a tool's answer; see item.Output.
type Output = item.Output

// Tool is something that a model can call. Implementations are safe for
// concurrent calls: the calls of one step run in parallel.
type Tool interface {
	// Spec names the tool and describes it to the model.
	Spec() item.ToolSpec
	// Check validates arguments as the model wrote them and encodes them in the one form
	// that policy and Run see. Its error says which field is wrong and what to write
	// instead; the model reads it.
	Check(arguments string) (canonical string, err error)
	// Access says what a call with arguments that Check returned touches.
	Access(arguments string) Access
	// Run does the work of a call. A failure that the model should see is an Output with
	// IsError, or an error, which becomes one. Run returns soon after ctx ends, and leaves
	// nothing running.
	Run(ctx context.Context, call *Invocation) (Output, error)
	// Recover finds the outcome of a call that a killed podd had started, and says how. Like
	// Run it waits for what still runs. Only a call that changes nothing may start again. With
	// [item.RecoveryUnknown], an empty summary becomes one that says that the call may have
	// taken effect.
	Recover(ctx context.Context, call *Invocation) (out Output, how item.Recovery, err error)
}
