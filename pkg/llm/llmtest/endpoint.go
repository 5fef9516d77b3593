package llmtest

import (
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Profile says what a wire can say, so that the suite names no wire.
type Profile struct {
	// API is the name of the wire.
	API string
	// Opaque are examples of what the wire returns with reasoning and gets back, each with
	// text that occurs nowhere else.
	Opaque []item.Opaque
	// NoSealed says that the wire has no reasoning that only the endpoint can read.
	NoSealed bool
}

// Answer is an endpoint's answer to one request: Reasoning, Text and Calls in this order,
// without the empty ones, and then Ending.
type Answer struct {
	Reasoning string
	// Sealed is reasoning, before the other, that only the endpoint can read.
	Sealed bool
	Text   string
	// Calls have a name and arguments; the endpoint gives them ids.
	Calls []item.ToolCall
	// Stop is why the answer ends; empty means StopDone.
	Stop llm.StopReason
	// Usage is what the endpoint bills; the zero value sends no usage.
	Usage  item.Usage
	Ending Ending
}

// Ending says how an answer ends, or what the endpoint sends instead of it.
type Ending string

// The endings.
const (
	// Whole ends the answer as the API specifies.
	Whole Ending = ""
	// Cut ends the body normally, but without the answer's end.
	Cut Ending = "cut"
	// Reset resets the connection.
	Reset Ending = "reset"
	// Stall is silence until the client goes away.
	Stall Ending = "stall"

	// HTML is a web page instead of an answer.
	HTML Ending = "html"
	// BadKey refuses the key.
	BadKey Ending = "bad key"
	// RateLimit asks to wait RetryAfter.
	RateLimit Ending = "rate limit"
	// Quota says that the account is used up, with the status of a rate limit.
	Quota Ending = "quota"
	// UnknownModel does not know the model.
	UnknownModel Ending = "unknown model"
	// TooLong says that the request does not fit the window.
	TooLong Ending = "too long"
	// Unavailable fails with 503.
	Unavailable Ending = "unavailable"
	// Invalid refuses the request for another reason.
	Invalid Ending = "invalid"
)

// RetryAfter is what an endpoint asks for with RateLimit.
const RetryAfter = time.Hour

// Endpoint is a model under test and the requests that its endpoint received.
type Endpoint struct {
	Model llm.Model
	// Key is the key that the model sends, which the endpoint repeats in its errors.
	Key string
	// Requests returns the received bodies, in order.
	Requests func() [][]byte
}

// Open starts an endpoint that sends these answers to any conversation, one per request
// and in order, and a model that uses it. Both end with t.
type Open func(t *testing.T, answers ...Answer) Endpoint
