package tool

import (
	"context"
	"errors"

	"podd/pkg/item"
)

// Invocation is one call of a tool, with the services of its turn for the tool. Outside
// of a turn only Arguments is needed. The methods may be called from any goroutine until
// Run or Recover returns.
type Invocation struct {
	// Arguments are as Check returned them.
	Arguments string
	// Pod is the pod's id, Turn the turn's number from 1.
	Pod  string
	Turn int64
	// CallID is unique in the pod's log.
	CallID string
	// Key is the call's for the other end of its effects; see [item.ToolCall.Key].
	Key string
	// Approved says that a person agreed to exactly this call.
	Approved bool
	// Agreed are the previews that the person saw; empty if the tool gave none. Without
	// Approved, the call may have changed since.
	Agreed []item.Preview
	// Check says that the command checks the pod's work for a person. If podd is killed, its next
	// start ends the command and drops the result.
	Check bool
	// Plan says that the turn only plans: the call must change nothing.
	Plan bool
	// Planned are, for Recover, the changes that Plan gave when the call began.
	Planned []item.PlannedChange
	// Since identifies, for Recover, what planned files had when a later call on them began, by
	// path: at that time this call had ended.
	Since map[string]string
	// Rebooted says, for Recover, that the machine may have started again since the call began, or
	// that the call began on another one: then it may have run although no file says so.
	Rebooted bool
	// Targets are those of the Access with which policy decided on the call.
	Targets []Target
	// Report shows output as it comes and does not block for long; nil shows it nowhere.
	Report func(text string)
	// Entry adds an entry to the log, in the transaction that stores the call's result; nil
	// adds none.
	Entry func(item.Kind)
	// Later runs work once the result of the call can no longer be lost. If podd ends first,
	// the work never runs. nil runs it at once.
	Later func(work func())
	// Meter counts for the turn; nil when nothing is counted.
	Meter Meter
	// Asks asks a person; nil when nobody can be asked. Ask has the contract.
	Asks func(ctx context.Context, key string, f item.Form) (item.ApprovalResolved, error)
}

// KeyVariable is the variable of a command's environment that has the key of its call.
const KeyVariable = "PODD_CALL"

// Meter counts for a turn, for tools that send requests to models themselves. Its methods
// may be called from any goroutine until the call ends.
type Meter interface {
	// Left is what the turn and its pod may still use; a zero field has no limit. The error
	// says, in one sentence, which limit is already reached.
	Left() (item.PodLimits, error)
	// Bill records what the requests of the tool were billed. It is stored with the call's
	// result and counts toward the limits of the turn and its pod.
	Bill(u item.RequestUsage)
	// Waits says that from now on the tool only waits, or works again: waiting does not use
	// up the time of the turn. A tool begins working.
	Waits(waiting bool)
}

// Progress reports a fragment of output to followers. It is only live: the result is the
// Output.
func (c *Invocation) Progress(text string) {
	if c.Report != nil {
		c.Report(text)
	}
}

// Record adds an entry to the log together with the result of the call. Only Run or
// Recover itself may call it.
func (c *Invocation) Record(k item.Kind) {
	if c.Entry != nil {
		c.Entry(k)
	}
}

// AskUser is the name of the tool that only asks a person. A turn in which nobody answers does not offer it.
const AskUser = "ask_user"

// History is the name of the tool that looks into the pod's own log. Requests offer it once a summary stands for a part
// of the conversation.
const History = "history"

// ErrNobody is what Ask returns where nobody can be asked.
var ErrNobody = errors.New("nobody can be asked here")

// TookBack is the cause with which a tool ends the context of Ask to say why it takes the form back. Why is a sentence's end, such as
// "the server has gone".
type TookBack struct{ Why string }

func (e *TookBack) Error() string { return e.Why }

// Ask asks a person, and waits for the answer, over restarts of podd too. The call asks one form at a time, and each with a key of its
// own: Recover asks the form again with its key, and gets the answer that the log has, or waits on. The answer is Withdrawn if the time for it
// is over. If ctx ends first, podd takes the form back and returns the cause; if podd stops, the form stays, and Ask returns
// ErrGoesOn, which Run and Recover return.
func (c *Invocation) Ask(ctx context.Context, key string, f item.Form) (item.ApprovalResolved, error) {
	if c.Asks == nil {
		return item.ApprovalResolved{}, ErrNobody
	}
	return c.Asks(ctx, key, f)
}

// Stored runs work once the result of the call is stored, such as removing the files by
// which Recover would find the result. Run or Recover itself calls it.
func (c *Invocation) Stored(work func()) {
	if c.Later != nil {
		c.Later(work)
		return
	}
	work()
}

// ErrGoesOn is what Run and Recover return when podd stops and the work of the call
// continues without it. The call stays open: podd calls Recover after its restart.
var ErrGoesOn = errors.New("podd stops; the call resumes when podd restarts")

// ErrLeave is in the cause of a context that ends because podd restarts: what can run on without
// podd, such as a command, is left running and found again by the next podd.
var ErrLeave = errors.New("podd restarts")
