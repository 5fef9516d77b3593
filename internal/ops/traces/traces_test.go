package traces

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"podd/pkg/hook/hooktest"
	"podd/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tracer follows the rules for hooks.
func TestConform(t *testing.T) {
	hooktest.Conform(t, newTracer(sdk.NewTracerProvider(), strings.Clone))
}

// The span of a request names the endpoint and its provider.
func TestProvider(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.NewTracerProvider(sdk.WithSyncer(kept)), func(endpoint string) string { return "vendor of " + endpoint })
	for _, endpoint := range []string{"", "claude"} {
		tracer.Entry("p", item.Entry{Time: time.Unix(9, 0), Kind: item.RequestUsage{Endpoint: endpoint, Asked: "m"}})
	}
	for i, name := range []string{"default", "claude"} {
		has := kept.GetSpans()[i].Attributes
		for _, want := range []attribute.KeyValue{
			attribute.String("gen_ai.provider.name", "vendor of "+name), attribute.String("podd.endpoint", name), attribute.String("gen_ai.request.model", "m"),
		} {
			if !slices.Contains(has, want) {
				t.Errorf("no %v in %v", want, has)
			}
		}
	}
}

// Traces are on when an endpoint is set and no variable turns them off.
func TestWanted(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, tt := range map[string]struct {
		env           map[string]string
		want, refused bool
	}{
		"nothing":        {},
		"an endpoint":    {env: map[string]string{endpoint: "http://x"}, want: true},
		"one for traces": {env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, want: true},
		"disabled":       {env: map[string]string{endpoint: "http://x", "OTEL_SDK_DISABLED": "TRUE"}},
		"no exporter":    {env: map[string]string{endpoint: "http://x", "OTEL_TRACES_EXPORTER": "none"}},
		"gRPC":           {env: map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, refused: true},
		"gRPC for others": {env: map[string]string{
			endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
		}, want: true},
	} {
		got, err := Wanted(func(name string) string { return tt.env[name] })
		if got != tt.want || (err != nil) != tt.refused {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
