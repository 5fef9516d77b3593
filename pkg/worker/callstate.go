package worker

// callState is where a call stands. A call begins as callRuns, or on a resume as the log left it,
// and a decision makes it what comes next:
//
//	             decide, also again
//	  ┌───────────┬─────┴─────┬──────────────┐
//	  ▼           ▼           ▼              ▼
//	Waits ─────► Asks ─────► Runs ◄─┐  Refused, Made
//	for calls    a person     │     │        │
//	                          │  Changed     │
//	                          ├─────┘        │
//	       Recovers ──────────┤              │
//	                          ▼              ▼
//	                 GoesOn  or  Ended ◄─────┘ ─────► Stored
//
// An arrow to Runs or Asks is a decision, which may also refuse the call. Only the turn's goroutine
// changes a state: the goroutine of a call says in its signal what comes next.
type callState int

const (
	// callRuns: its tool runs, or is about to.
	callRuns callState = iota
	// callWaits: it is decided on again once earlier calls on its files have ended.
	callWaits
	// callAsks: its question is open, or has an answer that is not yet acted on.
	callAsks
	// callRecovers: an earlier podd started it, so it is not run again; its tool finds the outcome.
	callRecovers
	// callRefused: it does not run. Its output says why.
	callRefused
	// callMade: it does not run. Its output is that of an interceptor.
	callMade
	// callChanged: a target or a file had changed, so that it did nothing. It is decided on again.
	callChanged
	// callGoesOn: its work continues after podd's restart, and gives the result.
	callGoesOn
	// callEnded: its result is there.
	callEnded
	// callStored: its result is stored.
	callStored
)

// toolless says that no tool runs: the call has its output.
func (s callState) toolless() bool { return s == callRefused || s == callMade }

// over says that the result is there.
func (s callState) over() bool { return s == callEnded || s == callStored }

// held says that the call begins only after something else.
func (s callState) held() bool { return s == callWaits || s == callAsks }
