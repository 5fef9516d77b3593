package scripted

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"podd/pkg/item"
)

// Handler answers requests. It is called from many goroutines; ctx ends with the
// request or the server.
type Handler func(ctx context.Context, r Request) Reply

// Reply is one answer. The zero value is an empty one.
type Reply struct {
	// Parts are streamed in their order.
	Parts []Part
	// Delay is the time between two chunks; 0 sends as fast as it can.
	Delay time.Duration
	// Stop is "length" or "filter" where the answer is not done.
	Stop string
	// Usage is what is reported; nil for an estimate.
	Usage *item.Usage
	// NoUsage reports none.
	NoUsage bool
	// Status is the HTTP status of an answer that is no stream: Body is sent as it
	// stands, with Header. 0 for a stream.
	Status int
	Header http.Header
	Body   string
}

// Part is a piece of an answer: Text, Reasoning, Call, Pause, Wait, Cut, Reset or
// Stall.
type Part interface {
	isPart()
}

// Text is text of the message; it is streamed in words.
type Text string

// Reasoning is reasoning; it is streamed in words.
type Reasoning string

// Call is a tool call.
type Call struct {
	Name string
	// Arguments is JSON, or what a model may write instead.
	Arguments string
	// ID is made from the request where it is empty.
	ID string
}

// Pause is silence.
type Pause time.Duration

// Wait is silence until the channel is closed.
type Wait <-chan struct{}

// Cut ends the body in good order, without the answer's end.
type Cut struct{}

// Reset breaks the connection.
type Reset struct{}

// Stall is silence until the client goes away or the server closes.
type Stall struct{}

func (Text) isPart()      {}
func (Reasoning) isPart() {}
func (Call) isPart()      {}
func (Pause) isPart()     {}
func (Wait) isPart()      {}
func (Cut) isPart()       {}
func (Reset) isPart()     {}
func (Stall) isPart()     {}

// Say is an answer of these parts.
func Say(parts ...Part) Reply { return Reply{Parts: parts} }

// Fail is an error as OpenAI sends it. retryAfter is sent where it is positive, in
// whole seconds.
func Fail(status int, code, message string, retryAfter time.Duration) Reply {
	r := Reply{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: errorBody(code, message)}
	if retryAfter > 0 {
		r.Header.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	return r
}

// HTML is a web page in place of an answer.
func HTML() Reply {
	return Reply{
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:   "<!doctype html><title>Welcome</title><p>This is not a model.</p>\n",
	}
}

// Answers is a model whose n-th answer in a conversation is the n-th of these, and the last
// one from then on.
func Answers(replies ...Reply) Handler {
	return func(_ context.Context, r Request) Reply { return replies[min(r.Steps(), len(replies)-1)] }
}
