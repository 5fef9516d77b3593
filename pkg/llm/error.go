package llm

import (
	"errors"
	"time"
)

// Class says what kind of failure a request met, and so what may help.
type Class string

// The classes of failure.
const (
	// ClassNetwork: the endpoint could not be reached; it has nothing of the request.
	ClassNetwork Class = "network"
	// ClassCut: the endpoint was reached, and its answer did not come or stopped before
	// its end, by a closed connection, a reset or silence. It may have been billed.
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
	// ClassContentFilter: the endpoint's content filter refused the request.
	ClassContentFilter Class = "content_filter"
	// ClassMalformedCall: the model wrote a tool call that the endpoint could not read or
	// did not accept. It may do better when it is asked again.
	ClassMalformedCall Class = "malformed_call"
	// ClassInvalid: the endpoint refused the request for another reason (4xx).
	ClassInvalid Class = "invalid"
	// ClassProtocol: what answered does not speak the API (an HTML page, say).
	ClassProtocol Class = "protocol"
)

// MaxRetryAfter is the longest wait that an endpoint can ask for.
const MaxRetryAfter = 24 * time.Hour

// MaxSaid bounds what is kept of the endpoint's own words, in bytes.
const MaxSaid = 1000

// Error is a failed request.
type Error struct {
	Class Class
	// Message is one sentence for a person: what the endpoint said, and what to
	// do. It holds no key.
	Message string
	// Status is the HTTP status; 0 when there was none.
	Status int
	// Said is what the endpoint said, on one line of at most MaxSaid bytes; may be empty.
	Said string
	// Code is the endpoint's own error code; may be empty.
	Code string
	// RetryAfter is how long the endpoint asks to wait, MaxRetryAfter at most; 0 when it
	// does not say.
	RetryAfter time.Duration
	// Final says that the endpoint asks not to try again.
	Final bool
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
	case ClassNetwork, ClassCut, ClassRateLimit, ClassOverloaded, ClassMalformedCall:
		return !e.Final
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
