package llm

import (
	"context"
	"iter"

	"podd/pkg/item"
)

// Model is an endpoint that answers requests. Implementations are safe for use
// from many goroutines; package llmtest has the suite that each must pass.
type Model interface {
	// API names the wire format, such as "chat". The setup entry has it, and opaque
	// data goes back only through the same API.
	API() string
	// Resolve returns the name to send for a configured model name. The empty name means the
	// endpoint's default; without a default it returns an Error of class ClassNoModel.
	Resolve(ctx context.Context, name string) (string, error)
	// Body is the exact request body for r. It is a pure function: the same request gives
	// the same bytes, and a longer one extends a shorter one as far as the API's format
	// allows.
	Body(r Request) ([]byte, error)
	// Stream sends a body and yields the answer. The events of a whole answer end with one
	// End; an answer that stops without it yields an *Error of class ClassCut last. The
	// consumer may stop early. Every error is an *Error or the context's cause. Stream
	// itself never retries: after the first event only the caller knows whether that is
	// safe. The body may come in parts that follow each other.
	Stream(ctx context.Context, body ...[]byte) iter.Seq2[Event, error]
}

// Incremental is optional for a Model: it encodes only once what a request has in common
// with the previous one: encoding all items again at each step was a fifth of a long turn's
// work, and grew with the conversation. Package llmtest compares its bodies with Model.Body.
type Incremental interface {
	// Encoder begins a conversation.
	Encoder() Encoder
}

// Encoder makes the bodies of one conversation, one after the other. They are the bytes
// that Model.Body returns, whatever happened to the conversation in between. Neither side
// changes a body afterwards, nor the items of a request: where two requests share the array of
// their items, these are equal. An Encoder belongs to one
// goroutine.
type Encoder func(Request) (Body, error)

// Body is the bytes of a request, in parts that follow each other: what the next request
// extends, and what closes it.
type Body [][]byte

// Len is the number of bytes.
func (b Body) Len() (n int) {
	for _, part := range b {
		n += len(part)
	}
	return n
}

// NewEncoder returns the model's own encoder if it has one, otherwise one that calls its
// Body.
func NewEncoder(m Model) Encoder {
	if m, ok := m.(Incremental); ok {
		return m.Encoder()
	}
	return func(r Request) (Body, error) {
		whole, err := m.Body(r)
		return Body{whole}, err
	}
}

// Request is a request to a model.
type Request struct {
	// Setup names the model, the instructions and the tools.
	Setup item.Setup
	// Items are the conversation to send: pruning is already applied, and each tool call is
	// followed by its one result before the next assistant item.
	Items []item.Item
	// Images gives the bytes of the images of Items, by digest; nil has none.
	Images Images
}

// Images gives the bytes of an image by its digest.
type Images func(digest string) ([]byte, error)
