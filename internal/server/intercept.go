package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"podd/internal/fleet"
	"podd/pkg/item"
	"podd/pkg/wire"
)

// unary wraps each admitted unary call: it recovers panics and translates errors, in one
// place.
func unary(c Config, f *fleet.Fleet) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
		defer busy(ctx)()
		err = guard(func() error {
			if err := checkKnown(info.FullMethod, req); err != nil {
				return err
			}
			resp, err = f.Unary(ctx, req, info.FullMethod, handler)
			return err
		})
		return resp, answer(c, info.FullMethod, err)
	}
}

// streaming does the same for streams, and counts the open ones.
func streaming(c Config, f *fleet.Fleet, open *atomic.Int64) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		open.Add(1)
		defer open.Add(-1)
		defer busy(ss.Context())()
		err := guard(func() error { return f.Stream(srv, ss, info.FullMethod, handler) })
		return answer(c, info.FullMethod, err)
	}
}

// panicked is a panic of a handler.
type panicked struct {
	value any
	stack []byte
}

// Error is the panic's value as text.
func (p *panicked) Error() string { return fmt.Sprint("panic: ", p.value) }

func guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	return call()
}

// answer is the error that the client gets. It logs what only the operator needs: defects,
// and causes that the answer leaves out.
func answer(c Config, method string, err error) error {
	if err == nil {
		return nil
	}
	if short, alert := scarce(err); short != nil {
		err = short
		c.Host.Alerts.Raise(item.LevelError, "system", alert)
	}
	if p, ok := errors.AsType[*panicked](err); ok {
		c.Logger.Error("call panicked", "method", method, "panic", fmt.Sprint(p.value), "stack", string(p.stack))
	} else if e, ok := errors.AsType[*item.Error](err); ok && e.Cause != nil {
		c.Logger.Warn("call failed", "method", method, "reason", e.Reason, "cause", e.Cause)
	} else if !ok && !gone(err) {
		c.Logger.Error("call failed", "method", method, "error", err)
	}
	return wire.ToStatus(redacted(c, brief(err)))
}

// maxQuote bounds each text of an error, in bytes: an error may quote a client's input.
const maxQuote = 8 << 10

// brief is an error with long texts shortened.
func brief(err error) error {
	e, ok := errors.AsType[*item.Error](err)
	if !ok {
		return err
	}
	short := *e
	short.Message = cut(e.Message)
	short.Meta = maps.Clone(e.Meta)
	for key, value := range short.Meta {
		short.Meta[key] = cut(value)
	}
	return &short
}

func cut(text string) string {
	if len(text) <= maxQuote {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuote], "") + "…"
}

// redacted is an error without secrets in its message.
func redacted(c Config, err error) error {
	e, ok := errors.AsType[*item.Error](err)
	if !ok || c.Redact == nil {
		return err
	}
	clean := *e
	clean.Message = c.Redact(e.Message)
	return &clean
}

// gone says that the call ended because its client went away.
func gone(err error) bool {
	code := status.Code(err)
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		code == codes.Canceled || code == codes.DeadlineExceeded
}
