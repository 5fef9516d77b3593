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
	// Parts are streamed in order.
	Parts []Part
	// Delay is the time between two chunks; 0 sends as fast as it can.
	Delay time.Duration
	// Stop is "length" or "filter" when the answer is not complete.
	Stop string
	// Usage is the reported usage; nil for an estimate.
	Usage *item.Usage
	// NoUsage reports none.
	NoUsage bool
	// Status is the HTTP status of an answer that is not a stream: Body is sent unchanged,
	// with Header. 0 means a stream.
	Status int
	Header http.Header
	Body   string
	// failed says that Fail made the reply, of code and message.
	failed        bool
	code, message string
}

// Part is a piece of an answer: Text, Reasoning, Call, Pause, Wait, Cut, Reset or
// Stall.
type Part interface {
	isPart()
}

// Text is text of the message; it is streamed word by word.
type Text string

// Reasoning is reasoning; it is streamed word by word. Without words it is encrypted.
type Reasoning string

// Call is a tool call.
type Call struct {
	Name string
	// Arguments is JSON, or any other text that a model may write.
	Arguments string
	// ID is derived from the request if it is empty.
	ID string
}

// Pause is silence.
type Pause time.Duration

// Wait is silence until the channel is closed.
type Wait <-chan struct{}

// Cut ends the body normally, but without the answer's end.
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

// Say is an answer with these parts.
func Say(parts ...Part) Reply { return Reply{Parts: parts} }

// Fail is an error in the form of the API that is asked. retryAfter is sent if it is
// positive, in whole seconds.
func Fail(status int, code, message string, retryAfter time.Duration) Reply {
	r := Reply{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: errorBody(code, message), failed: true, code: code, message: message}
	if retryAfter > 0 {
		r.Header.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	return r
}

// HTML is a web page instead of an answer.
func HTML() Reply {
	return Reply{
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:   "<!doctype html><title>Welcome</title><p>This is not a model.</p>\n",
	}
}

// Answers is a model whose n-th answer in a conversation is the n-th of these; the last
// one repeats.
func Answers(replies ...Reply) Handler {
	return func(_ context.Context, r Request) Reply { return replies[min(r.Steps(), len(replies)-1)] }
}
