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
	// Stream sends a body and yields what comes back. The events of a whole answer
	// end with one End; an answer that stops without it yields an *Error of class
	// ClassCut last. The consumer may stop early. Every error is an *Error or the
	// context's cause. Stream itself never retries: after the first event only the
	// caller knows whether that is safe.
	Stream(ctx context.Context, body []byte) iter.Seq2[Event, error]
}

// Incremental is what a Model may be as well: one that encodes once what a request has in
// common with the one before it. Package llmtest holds its bodies against Model.Body.
type Incremental interface {
	// Encoder begins a conversation.
	Encoder() Encoder
}

// Encoder makes the bodies of one conversation, one after the other. They are the bytes that
// Model.Body gives, whatever became of the conversation in between. Neither side changes a
// body afterwards, nor the items of a request. An Encoder belongs to one goroutine.
type Encoder func(Request) ([]byte, error)

// NewEncoder is a model's own encoder where it has one, else its Body.
func NewEncoder(m Model) Encoder {
	if m, ok := m.(Incremental); ok {
		return m.Encoder()
	}
	return m.Body
}

// Request is what a model is asked.
type Request struct {
	// Setup names the model, the instructions and the tools.
	Setup item.Setup
	// Items are the conversation as it is to be sent: pruning is already applied,
	// and each tool call is followed by its one result before the next assistant
	// item.
	Items []item.Item
}
