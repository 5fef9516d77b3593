package llm

import (
	"errors"
	"time"
)

// Class says why a request failed, and so what may help.
type Class string

// The classes of failure.
const (
	// ClassNetwork: podd could not reach the endpoint, which has nothing of the request.
	ClassNetwork Class = "network"
	// ClassCut: the endpoint was reached, and its answer did not come or stopped before its
	// end, because of a closed connection, a reset or silence. It may have been billed.
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
	// ClassNoImages: the request has images, and the model takes none.
	ClassNoImages Class = "no_images"
	// ClassContentFilter: the endpoint's content filter refused the request.
	ClassContentFilter Class = "content_filter"
	// ClassMalformedCall: the model wrote a tool call that the endpoint could not read or
	// did not accept. Another try may succeed.
	ClassMalformedCall Class = "malformed_call"
	// ClassNoAnswer: the answer came whole and had neither text nor a call, also when the
	// model was asked again.
	ClassNoAnswer Class = "no_answer"
	// ClassInvalid: the endpoint refused the request for another reason (4xx).
	ClassInvalid Class = "invalid"
	// ClassProtocol: the server does not speak the API; it sent an HTML page, for example.
	ClassProtocol Class = "protocol"
)

// MaxRetryAfter is the longest wait that an endpoint can ask for: the windows of coding plans
// have five hours. podd ignores a longer one, so that the turn ends soon and says why.
const MaxRetryAfter = 6 * time.Hour

// MaxSaid bounds the kept text of the endpoint's error, in bytes.
const MaxSaid = 1000

// Error is a failed request.
type Error struct {
	Class Class
	// Message is one sentence for a person: what the endpoint said, and what to do. It
	// contains no key.
	Message string
	// Status is the HTTP status; 0 without one.
	Status int
	// Said is the endpoint's text, on one line of at most MaxSaid bytes; may be empty.
	Said string
	// Code is the endpoint's own error code; may be empty.
	Code string
	// RetryAfter is how long the endpoint asks to wait, at most MaxRetryAfter; 0 when it
	// does not say.
	RetryAfter time.Duration
	// Final says that the endpoint asks not to retry.
	Final bool
	// Unsent says that nothing was sent: the endpoint had asked another request to wait, and
	// RetryAfter is left of that.
	Unsent bool
	// Cause is the underlying error; may be nil.
	Cause error
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Retryable says whether the same request may work later although no one changes
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
