package tool

import (
	"errors"

	"podd/pkg/item"
)

// Invocation is one call of a tool, with what the tool may ask of the turn that it works for.
// Outside of a turn only Arguments is needed. The methods may be called from any goroutine
// until Run or Recover returns.
type Invocation struct {
	// Arguments are as Check returned them.
	Arguments string
	// Pod is the pod's id, Turn the turn's number from 1.
	Pod  string
	Turn int64
	// CallID is unique in the pod's log.
	CallID string
	// Approved says that a person has agreed to exactly this call.
	Approved bool
	// Targets are those of the Access that the call was decided on with.
	Targets []Target
	// Report shows output as it comes and does not block for long; nil shows it to nobody.
	Report func(text string)
	// Later keeps work for when the result of the call can no longer be lost. The work is
	// not done at all when podd ends first. nil does it at once.
	Later func(work func())
	// Meter is what the turn counts; nil when nothing is counted.
	Meter Meter
}

// Meter is what a turn counts, for tools that make requests of models themselves. Its methods
// may be called from any goroutine until the call ends.
type Meter interface {
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

// Progress reports a fragment of output to whoever watches. It is live only: what counts is
// the Output.
func (c *Invocation) Progress(text string) {
	if c.Report != nil {
		c.Report(text)
	}
}

// Stored has work done once the result of the call is stored: removing that by which Recover
// would find it. Run or Recover itself calls it.
func (c *Invocation) Stored(work func()) {
	if c.Later != nil {
		c.Later(work)
		return
	}
	work()
}

// ErrGoesOn is what Run and Recover return when podd stops and the work of the call goes
// on without it. The call stays open: Recover is asked about it when podd is back.
var ErrGoesOn = errors.New("podd stops, and the work of the call goes on when it is back")
