package llmtest

import (
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// Answer is what an endpoint is to answer to one request: Reasoning, Text and
// Calls in this order, each left out where it is empty, and then Ending.
type Answer struct {
	Reasoning string
	Text      string
	// Calls have a name and arguments; the endpoint gives them ids.
	Calls []item.ToolCall
	// Stop is why the answer ends; empty means StopDone.
	Stop llm.StopReason
	// Usage is what the endpoint bills; the zero value sends no usage.
	Usage  item.Usage
	Ending Ending
}

// Ending says how an answer ends, or what comes in its place.
type Ending string

// The endings.
const (
	// Whole ends the answer as the API says.
	Whole Ending = ""
	// Cut ends the body in good order without the answer's end.
	Cut Ending = "cut"
	// Reset resets the connection.
	Reset Ending = "reset"
	// Stall is silence until the client goes away.
	Stall Ending = "stall"

	// HTML is a web page in place of an answer.
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
	// Invalid refuses the request for a reason of its own.
	Invalid Ending = "invalid"
)

// RetryAfter is what an endpoint asks for with RateLimit.
const RetryAfter = time.Hour

// Endpoint is a model under test and what its endpoint saw.
type Endpoint struct {
	Model llm.Model
	// Requests gives the bodies that arrived, in order.
	Requests func() [][]byte
}

// Open starts an endpoint that gives these answers, one a request and in order, to
// any conversation, and a model that talks to it. Both end with t.
type Open func(t *testing.T, answers ...Answer) Endpoint
