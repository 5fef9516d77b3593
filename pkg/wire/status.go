package wire

import (
	"context"
	"errors"
	"fmt"

	"podd/pkg/item"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Domain is the domain of the ErrorInfo detail of podd's errors.
const Domain = "podd"

// Reasons that this package gives itself.
const (
	// ReasonInternal: podd failed for a reason that it does not describe.
	ReasonInternal = "INTERNAL"
	// ReasonUnreachable: the connection failed; the error is not podd's answer.
	ReasonUnreachable = "UNREACHABLE"
)

// errorCodes is the table between error kinds and gRPC codes; it is one to one.
var errorCodes = []struct {
	kind item.ErrorKind
	code codes.Code
}{
	{item.KindInvalid, codes.InvalidArgument},
	{item.KindNotFound, codes.NotFound},
	{item.KindExists, codes.AlreadyExists},
	{item.KindPrecondition, codes.FailedPrecondition},
	{item.KindExhausted, codes.ResourceExhausted},
	{item.KindOutOfRange, codes.OutOfRange},
	{item.KindUnavailable, codes.Unavailable},
	{item.KindUnauthenticated, codes.Unauthenticated},
	{item.KindDenied, codes.PermissionDenied},
	{item.KindDataLoss, codes.DataLoss},
	{item.KindUnimplemented, codes.Unimplemented},
	{item.KindInternal, codes.Internal},
}

// ToStatus is err as a gRPC status error: what a handler returns.
//
// An item.Error in err's chain gives its kind's code, its message, and an ErrorInfo detail
// with its reason and meta; its cause is not sent. Otherwise a gRPC status error is passed
// on, the end of a context gives its code, and any other error becomes Internal with a
// general message: the caller logs err. nil stays nil.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*item.Error](err); ok {
		return fromItemError(e)
	}
	if e, ok := errors.AsType[statusError](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, "the call was cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, "the call took longer than its deadline")
	}
	return fromItemError(item.Errorf(item.KindInternal, ReasonInternal,
		"internal error in podd: see its log"))
}

// FromStatus turns the error of a gRPC call into podd's vocabulary: what a client returns.
//
// A status gives an *item.Error with kind, reason, message and meta, and err as its cause;
// without podd's detail the reason is empty, except that Unavailable becomes UNREACHABLE,
// because the connection failed. The codes of an ended context give an error that is
// context.Canceled or context.DeadlineExceeded. An error that is not a status, such as
// io.EOF, and nil stay unchanged.
func FromStatus(err error) error {
	if err == nil {
		return nil
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch st.Code() {
	case codes.Canceled:
		return fmt.Errorf("%s: %w", st.Message(), context.Canceled)
	case codes.DeadlineExceeded:
		return fmt.Errorf("%s: %w", st.Message(), context.DeadlineExceeded)
	}
	e := &item.Error{Kind: kindOfCode(st.Code()), Message: st.Message(), Cause: err}
	if info := errorInfo(st); info != nil {
		e.Reason, e.Meta = info.GetReason(), info.GetMetadata()
	} else if st.Code() == codes.Unavailable {
		e.Reason, e.Message = ReasonUnreachable, "cannot reach podd: check that it is running"
	}
	return e
}

// statusError is an error that gRPC made, or one for it.
type statusError interface {
	error
	GRPCStatus() *status.Status
}

func fromItemError(e *item.Error) error {
	st := status.New(codeOfKind(e.Kind), clean(e.Message))
	detailed, err := st.WithDetails(&errdetails.ErrorInfo{
		Reason:   clean(e.Reason),
		Domain:   Domain,
		Metadata: cleanMeta(e.Meta),
	})
	if err != nil {
		// Cannot happen with valid text; the status itself still has the message.
		return st.Err()
	}
	return detailed.Err()
}

func errorInfo(st *status.Status) *errdetails.ErrorInfo {
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == Domain {
			return info
		}
	}
	return nil
}

func codeOfKind(kind item.ErrorKind) codes.Code {
	for _, row := range errorCodes {
		if row.kind == kind {
			return row.code
		}
	}
	return codes.Internal
}

func kindOfCode(code codes.Code) item.ErrorKind {
	for _, row := range errorCodes {
		if row.code == code {
			return row.kind
		}
	}
	return item.KindInternal
}

func cleanMeta(meta map[string]string) map[string]string {
	if len(meta) == 0 {
		return nil
	}
	out := make(map[string]string, len(meta))
	for key, value := range meta {
		out[clean(key)] = clean(value)
	}
	return out
}
