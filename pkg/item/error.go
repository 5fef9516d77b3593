package item

import (
	"errors"
	"fmt"
)

// ErrorKind is the closed set of what can go wrong with a request. Each kind is one gRPC
// code; pkg/wire has the table.
type ErrorKind string

// The error kinds.
const (
	// KindInvalid: the request can never work in this form.
	KindInvalid ErrorKind = "invalid"
	// KindNotFound: the pod, alert or approval does not exist.
	KindNotFound ErrorKind = "not_found"
	// KindExists: the name is in use, or the request id has other content.
	KindExists ErrorKind = "already_exists"
	// KindPrecondition: the request does not work in the current state.
	KindPrecondition ErrorKind = "failed_precondition"
	// KindExhausted: a limit is reached.
	KindExhausted ErrorKind = "resource_exhausted"
	// KindOutOfRange: the sequence was purged or does not exist yet.
	KindOutOfRange ErrorKind = "out_of_range"
	// KindUnavailable: podd is stopping; try again.
	KindUnavailable ErrorKind = "unavailable"
	// KindUnauthenticated: the client token is missing or wrong.
	KindUnauthenticated ErrorKind = "unauthenticated"
	// KindDenied: not this user.
	KindDenied ErrorKind = "permission_denied"
	// KindDataLoss: a stored record is damaged.
	KindDataLoss ErrorKind = "data_loss"
	// KindUnimplemented: podd does not have this.
	KindUnimplemented ErrorKind = "unimplemented"
	// KindInternal: an internal error in podd.
	KindInternal ErrorKind = "internal"
)

// Error is an error that a client may see. Its message is one sentence that says what is
// wrong and what to do next.
type Error struct {
	Kind ErrorKind
	// Reason is a word for programs, in UPPER_SNAKE_CASE.
	Reason  string
	Message string
	// Meta has further facts for programs, such as "first_seq".
	Meta map[string]string
	// Cause is for the operator's log; it is not sent to clients.
	Cause error
}

// Errorf makes an Error with a formatted message.
func Errorf(kind ErrorKind, reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Error is the message, without the cause.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf is the kind of the first Error in err's chain; KindInternal without one.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindInternal
}

// ReasonOf is the reason of the first Error in err's chain, or "".
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}
