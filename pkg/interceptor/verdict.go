package interceptor

import (
	"time"

	"podd/pkg/item"
)

// SubmitVerdict decides on a submit. Its zero value continues.
type SubmitVerdict struct {
	text    *string
	cancel  string
	items   []item.Item
	warning string
}

// Continue lets the submit continue unchanged.
func (Submit) Continue() SubmitVerdict { return SubmitVerdict{} }

// ContinueWith lets the submit continue and adds items to the history right after the
// user's message, in the same transaction.
func (Submit) ContinueWith(items ...item.Item) SubmitVerdict { return SubmitVerdict{items: items} }

// Rewrite lets the submit continue with another text. The log keeps what the user wrote
// in its submitted entry.
func (Submit) Rewrite(text string) SubmitVerdict { return SubmitVerdict{text: &text} }

// Cancel ends the submit: its turn is stored as cancelled with this reason, and
// nothing goes to the model. An empty reason reads "no reason given".
func (Submit) Cancel(reason string) SubmitVerdict { return SubmitVerdict{cancel: orNone(reason)} }

// Warn raises an alert with the verdict, in one sentence, for example about something
// that the interceptor could not do. The pod's log has the alert.
func (v SubmitVerdict) Warn(text string) SubmitVerdict {
	v.warning = text
	return v
}

// RequestVerdict decides on a model request. Its zero value continues.
type RequestVerdict struct {
	items         []item.Item
	cancel, pause string
	until         time.Time
	again         <-chan struct{}
	warning       string
}

// Continue lets the request be sent.
func (Request) Continue() RequestVerdict { return RequestVerdict{} }

// ContinueWith first adds items to the history, then lets the request be sent with them.
func (Request) ContinueWith(items ...item.Item) RequestVerdict { return RequestVerdict{items: items} }

// Cancel ends the turn as cancelled.
func (Request) Cancel(reason string) RequestVerdict { return RequestVerdict{cancel: orNone(reason)} }

// Pause pauses the pod until a person resumes it; then the request is sent without
// another question.
func (Request) Pause(reason string) RequestVerdict { return RequestVerdict{pause: orNone(reason)} }

// PauseUntil pauses the pod until a time, or until again is closed: then podd asks again.
// A nil again never is. A person may resume the pod earlier; then the pauses of this
// interceptor up to that time do not count in this turn. PauseUntil raises no alert.
func (Request) PauseUntil(reason string, until time.Time, again <-chan struct{}) RequestVerdict {
	return RequestVerdict{pause: orNone(reason), until: until, again: again}
}

// Warn raises an alert with the verdict, in one sentence.
func (v RequestVerdict) Warn(text string) RequestVerdict {
	v.warning = text
	return v
}

// CallVerdict decides on a tool call. Its zero value continues.
type CallVerdict struct {
	arguments        *string
	result           *item.Output
	deny, ask, abort string
	warning          string
}

// Continue lets the call run.
func (Call) Continue() CallVerdict { return CallVerdict{} }

// Rewrite lets the call run with other arguments, which podd validates like the model's.
// It calls every interceptor again with them.
func (Call) Rewrite(arguments string) CallVerdict { return CallVerdict{arguments: &arguments} }

// Deny keeps a call from running; the reason is the result that the model sees. An empty
// reason reads "no reason given".
func (Call) Deny(reason string) CallVerdict { return CallVerdict{deny: orNone(reason)} }

// Result answers the call without running it.
func (Call) Result(output item.Output) CallVerdict { return CallVerdict{result: &output} }

// Ask lets the call run only when a person agrees, and shows the question with it.
func (Call) Ask(question string) CallVerdict { return CallVerdict{ask: orNone(question)} }

// Abort keeps the call from running and ends the turn as cancelled.
func (Call) Abort(reason string) CallVerdict { return CallVerdict{abort: orNone(reason)} }

// Warn raises an alert with the verdict, in one sentence.
func (v CallVerdict) Warn(text string) CallVerdict {
	v.warning = text
	return v
}

// ResultVerdict decides on a call's output. Its zero value continues.
type ResultVerdict struct {
	output  *item.Output
	abort   string
	warning string
}

// Continue leaves the output unchanged.
func (Result) Continue() ResultVerdict { return ResultVerdict{} }

// Replace replaces the call's output.
func (Result) Replace(output item.Output) ResultVerdict { return ResultVerdict{output: &output} }

// Abort stores the output and ends the turn as cancelled.
func (Result) Abort(reason string) ResultVerdict { return ResultVerdict{abort: orNone(reason)} }

// Warn raises an alert with the verdict, in one sentence.
func (v ResultVerdict) Warn(text string) ResultVerdict {
	v.warning = text
	return v
}

// TurnVerdict decides on a turn that is about to finish. Its zero value lets it finish.
type TurnVerdict struct {
	items   []item.Item
	pause   string
	warning string
}

// Finish lets the turn finish.
func (Turn) Finish() TurnVerdict { return TurnVerdict{} }

// ContinueWith adds items to the history and lets the turn take another step, so that the
// model can correct itself. The number of such steps is bounded.
func (Turn) ContinueWith(items ...item.Item) TurnVerdict { return TurnVerdict{items: items} }

// Pause pauses the pod until a person resumes it; then the turn finishes without another
// question, unless others added something for the model to see.
func (Turn) Pause(reason string) TurnVerdict { return TurnVerdict{pause: orNone(reason)} }

// Warn raises an alert with the verdict, in one sentence.
func (v TurnVerdict) Warn(text string) TurnVerdict {
	v.warning = text
	return v
}

func orNone(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return reason
}
