package interceptor

import "podd/pkg/item"

// SubmitVerdict decides on a submit. Its zero value continues; the others are made
// by Rewrite, Cancel and ContinueWith.
type SubmitVerdict struct {
	text   *string
	cancel string
	items  []item.Item
}

// ContinueWith lets the submit go on and adds items to the history right after the
// user's message, in the same transaction.
func ContinueWith(items ...item.Item) SubmitVerdict { return SubmitVerdict{items: items} }

// Rewrite lets the submit go on with another text. The log keeps what the user
// wrote in its submitted entry.
func Rewrite(text string) SubmitVerdict { return SubmitVerdict{text: &text} }

// Cancel ends the submit: its turn is stored as cancelled with this reason, and
// nothing goes to the model. An empty reason reads "no reason given".
func Cancel(reason string) SubmitVerdict { return SubmitVerdict{cancel: orNone(reason)} }

// CallVerdict decides on a tool call. Its zero value continues; the other is made
// by Deny.
type CallVerdict struct {
	deny string
}

// Deny keeps a call from running; the reason is the result that the model sees. An
// empty reason reads "no reason given".
func Deny(reason string) CallVerdict { return CallVerdict{deny: orNone(reason)} }

// TurnVerdict decides on a turn that is about to finish. Its zero value lets it
// finish; the other is made by GoOn.
type TurnVerdict struct {
	items []item.Item
}

// GoOn adds items to the history and lets the turn take another step, so that the
// model can correct itself. The worker bounds how often.
func GoOn(items ...item.Item) TurnVerdict { return TurnVerdict{items: items} }

func orNone(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return reason
}
