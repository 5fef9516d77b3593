package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"

	"podd/internal/sanitize"
)

// Handler passes log records on without secrets, and without characters that control a
// terminal or hide, in messages and values alike. podd logs only through it.
func (s *Set) Handler(next slog.Handler) slog.Handler { return handler{s, next} }

type handler struct {
	set  *Set
	next slog.Handler
}

// Enabled asks the next handler.
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes a clean record on.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

// WithAttrs cleans the attributes once.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.set, h.next.WithAttrs(h.attrs(attrs))}
}

// WithGroup opens a group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.set, h.next.WithGroup(h.text(name))}
}

func (h handler) text(s string) string { return sanitize.Terminal(h.set.Redact(s)) }

func (h handler) attrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return clean
}

func (h handler) attr(a slog.Attr) slog.Attr {
	a.Key = h.text(a.Key)
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.text(v.String()))
	case slog.KindGroup:
		a.Value = slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindAny:
		a.Value = h.any(v.Any())
	default:
		a.Value = v
	}
	return a
}

// any is a value of any type as text: the handler's own conversion could not be checked
// any more.
func (h handler) any(v any) slog.Value {
	switch v := v.(type) {
	case error:
		return slog.StringValue(h.text(v.Error()))
	case fmt.Stringer:
		return slog.StringValue(h.text(v.String()))
	case []byte:
		return slog.StringValue(h.text(string(v)))
	case nil:
		return slog.AnyValue(nil)
	}
	if s := reflect.ValueOf(v); s.Kind() == reflect.String {
		// As JSON it would be quoted twice.
		return slog.StringValue(h.text(s.String()))
	}
	if encoded, err := json.Marshal(v); err == nil {
		return slog.StringValue(h.text(string(encoded)))
	}
	return slog.StringValue(h.text(fmt.Sprint(v)))
}
