package traces

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// Tracer is the hook that creates spans. Its methods may be called from any goroutine.
type Tracer struct {
	hook.Base
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	// vendor names the provider of an endpoint, as the conventions do.
	vendor func(endpoint string) string

	mu sync.Mutex
	// names are the names of loaded pods, turns the spans of running turns, both by pod id.
	names map[string]string
	turns map[string]trace.Span
}

func newTracer(p *sdk.TracerProvider, vendor func(endpoint string) string) *Tracer {
	return &Tracer{provider: p, tracer: p.Tracer("podd"), vendor: vendor, names: make(map[string]string), turns: make(map[string]trace.Span)}
}

// Name is the hook's name.
func (t *Tracer) Name() string { return "traces" }

// Pod remembers a pod's name.
func (t *Tracer) Pod(e hook.PodEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Change {
	case hook.PodUnloaded, hook.PodDeleted:
		delete(t.names, e.ID)
	default:
		t.names[e.ID] = e.Name
	}
}

// Entry creates a span for each turn, request and call that has ended.
func (t *Tracer) Entry(pod string, e item.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		t.begin(pod, e, false)
	case item.Recovered:
		t.begin(pod, e, true)
	case item.TurnEnded:
		t.end(pod, e.Time, k)
	case item.RequestUsage:
		if k.Purpose != item.PurposeSubPod {
			t.request(pod, e, k)
		}
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			t.call(pod, e, r)
		}
	}
}

// none is an empty context: spans are created from entries, not from a caller.
var none = context.Background() //nolint:forbidigo // No caller has a context for it.

// begin opens the span of a turn, or of the part of a turn after a restart.
func (t *Tracer) begin(pod string, e item.Entry, resumed bool) {
	if open, ok := t.turns[pod]; ok {
		open.End(trace.WithTimestamp(e.Time))
	}
	name := t.names[pod]
	_, t.turns[pod] = t.tracer.Start(none, "invoke_agent "+name, trace.WithTimestamp(e.Time), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.id", pod),
		attribute.String("gen_ai.agent.name", name), attribute.String("gen_ai.conversation.id", pod),
		attribute.Int64("podd.turn", e.Turn), attribute.Bool("podd.turn.resumed", resumed),
	))
}

func (t *Tracer) end(pod string, at time.Time, k item.TurnEnded) {
	span, ok := t.turns[pod]
	if !ok {
		return
	}
	delete(t.turns, pod)
	span.SetAttributes(attribute.String("podd.turn.outcome", string(k.Outcome)), attribute.Int("podd.turn.steps", k.Steps),
		attribute.Int64("gen_ai.usage.input_tokens", k.Usage.Input), attribute.Int64("gen_ai.usage.output_tokens", k.Usage.Output))
	if k.Outcome == item.OutcomeFailed {
		span.SetAttributes(attribute.String("error.type", k.Reason))
		span.SetStatus(codes.Error, k.Reason)
	}
	span.End(trace.WithTimestamp(at))
}

// request creates a span of a finished request: its entry has the duration.
func (t *Tracer) request(pod string, e item.Entry, u item.RequestUsage) {
	endpoint := cmp.Or(u.Endpoint, item.DefaultEndpoint)
	t.past(pod, "chat "+u.Model, e.Time, u.DurationMS, trace.SpanKindClient, nil,
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", t.vendor(endpoint)),
		attribute.String("podd.endpoint", endpoint), attribute.String("gen_ai.request.model", u.Asked),
		attribute.String("gen_ai.response.model", u.Model), attribute.String("gen_ai.response.id", u.ResponseID),
		attribute.Int64("gen_ai.usage.input_tokens", u.Usage.Input), attribute.Int64("gen_ai.usage.output_tokens", u.Usage.Output),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", u.Usage.CachedInput), attribute.Int("podd.step", u.Step),
		attribute.String("podd.request.purpose", u.Purpose),
	)
}

func (t *Tracer) call(pod string, e item.Entry, r item.ToolResult) {
	fails := func(s trace.Span) {
		if r.IsError {
			s.SetAttributes(attribute.String("error.type", "tool"))
			s.SetStatus(codes.Error, "")
		}
	}
	t.past(pod, "execute_tool "+r.Tool, e.Time, r.DurationMS, trace.SpanKindInternal, fails,
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", r.Tool),
		attribute.String("gen_ai.tool.call.id", r.CallID), attribute.String("gen_ai.tool.type", "function"),
	)
}

// past creates a span within the pod's turn that ended at a time.
func (t *Tracer) past(pod, name string, end time.Time, ms int64, kind trace.SpanKind, more func(trace.Span), attributes ...attribute.KeyValue) {
	ctx := none
	if turn, ok := t.turns[pod]; ok {
		ctx = trace.ContextWithSpan(ctx, turn)
	}
	begin := end.Add(-time.Duration(ms) * time.Millisecond)
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(begin), trace.WithSpanKind(kind),
		trace.WithAttributes(append(attributes, attribute.String("gen_ai.conversation.id", pod))...))
	if more != nil {
		more(span)
	}
	span.End(trace.WithTimestamp(end))
}

// endAll ends the spans of turns that are open when podd stops. Such a turn resumes at the
// next start in a new span.
func (t *Tracer) endAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for pod, span := range t.turns {
		span.SetAttributes(attribute.String("podd.turn.outcome", "open"))
		span.End()
		delete(t.turns, pod)
	}
}
