package llm

import (
	"context"
	"iter"

	"podd/pkg/item"
)

// Model is an endpoint that answers requests. Implementations are safe for use
// from many goroutines; package llmtest has the suite that each must pass.
type Model interface {
	// API names the wire format: "responses" or "chat". It stands in the setup
	// entry, and opaque data is sent back through the same API only.
	API() string
	// Resolve gives the name to send for a configured model name. The empty name
	// means the endpoint's default; where there is none, an Error of class
	// ClassNoModel.
	Resolve(ctx context.Context, name string) (string, error)
	// Body is the exact request body for r: a pure function, so that the same
	// request gives the same bytes and a longer one extends a shorter one as far
	// as the API's format allows.
	Body(r Request) ([]byte, error)
	// Composer makes the bodies of one conversation, one after the other.
	Composer() Composer
	// Stream sends a body and yields what comes back. The events of a whole answer
	// end with one End; an answer that stops without it yields an *Error of class
	// ClassCut last. The consumer may stop early. Every error is an *Error or the
	// context's cause. Stream itself never retries: after the first event only the
	// caller knows whether that is safe.
	Stream(ctx context.Context, body []byte) iter.Seq2[Event, error]
}

// Composer makes the bodies of a conversation that grows: what it has encoded for one
// request it does not encode again for the next. A Composer belongs to one goroutine.
type Composer interface {
	// Body gives the bytes that Model.Body gives for r. They are not changed
	// afterwards, by either side. r.Marks must be set.
	Body(r Request) ([]byte, error)
}

// Mark names an item as it is sent. Marks of a request ascend, and two requests of one
// conversation that have a mark in common have the same item there.
type Mark uint64

// Request is what a model is asked.
type Request struct {
	// Setup names the model, the instructions and the tools.
	Setup item.Setup
	// Items are the conversation as it is to be sent: pruning is already applied,
	// and each tool call is followed by its one result before the next assistant
	// item.
	Items []item.Item
	// Marks, one an item, are for a Composer; nil where nothing is known of the items.
	Marks []Mark
}
