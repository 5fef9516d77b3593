package llm

import (
	"errors"
	"time"
)

// Class says what kind of failure a request met, and so what may help.
type Class string

// The classes of failure.
const (
	// ClassNetwork: the endpoint could not be reached, or the connection broke
	// before the answer began.
	ClassNetwork Class = "network"
	// ClassCut: the answer began and stopped before its end, by a closed
	// connection, a reset or silence.
	ClassCut Class = "cut"
	// ClassRateLimit: too many requests; RetryAfter may say how long to wait.
	ClassRateLimit Class = "rate_limit"
	// ClassOverloaded: the endpoint failed on its side (5xx).
	ClassOverloaded Class = "overloaded"
	// ClassQuota: the account is used up; waiting does not help.
	ClassQuota Class = "quota"
	// ClassAuth: the key is missing, wrong or not allowed.
	ClassAuth Class = "auth"
	// ClassNoKey: the endpoint needs a key and none is set; nothing was sent.
	ClassNoKey Class = "no_key"
	// ClassNoModel: no model is configured and the endpoint names none.
	ClassNoModel Class = "no_model"
	// ClassUnknownModel: the endpoint does not know the model.
	ClassUnknownModel Class = "unknown_model"
	// ClassContext: the request is larger than the model's window.
	ClassContext Class = "context"
	// ClassInvalid: the endpoint refused the request for another reason (4xx).
	ClassInvalid Class = "invalid"
	// ClassProtocol: what answered does not speak the API (an HTML page, say).
	ClassProtocol Class = "protocol"
)

// Error is a failed request.
type Error struct {
	Class Class
	// Message is one sentence for a person: what the endpoint said, and what to
	// do. It holds no key.
	Message string
	// Status is the HTTP status; 0 when there was none.
	Status int
	// Code is the endpoint's own error code; may be empty.
	Code string
	// RetryAfter is how long the endpoint asks to wait; 0 when it does not say.
	RetryAfter time.Duration
	// Cause is the underlying error; may be nil.
	Cause error
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Retryable says whether the same request may work later without anyone changing
// anything.
func (e *Error) Retryable() bool {
	switch e.Class {
	case ClassNetwork, ClassCut, ClassRateLimit, ClassOverloaded:
		return true
	}
	return false
}

// ClassOf is the class of the first Error in err's chain, or "".
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}
