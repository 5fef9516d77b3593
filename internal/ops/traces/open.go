// Package traces sends turns to an OpenTelemetry collector as spans, following the GenAI
// conventions: invoke_agent for a turn, chat for a model request, execute_tool for a call.
// It is a hook, so turns do not depend on it. It never sends text of a conversation. Spans are
// made from committed entries and sent over HTTP by OpenTelemetry's SDK, which reads the
// standard variables.
//
// Rank 3: it imports pkg/hook and pkg/item.
package traces

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"podd/pkg/item"
)

// endTime bounds the sending of the last spans.
const endTime = 3 * time.Second

// Wanted says whether OpenTelemetry's variables in the environment ask for traces.
func Wanted(env func(string) string) (bool, error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || env("OTEL_TRACES_EXPORTER") == "none" ||
		env("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch protocol := env(name); protocol {
		case "http/protobuf":
			return true, nil
		case "":
		default:
			return false, item.Errorf(item.KindInvalid, "OTEL", "%s is %q, but podd sends traces only with http/protobuf: set it to that", name, protocol)
		}
	}
	return true, nil
}

// Secrets are the values of the headers for collectors in an environment, which usually are
// keys. A value with a scheme, such as Bearer, is also listed without it.
func Secrets(env func(string) string) []string {
	var values []string
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for header := range strings.SplitSeq(env(name), ",") {
			_, value, _ := strings.Cut(header, "=")
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			value = strings.TrimSpace(value)
			_, bare, _ := strings.Cut(value, " ")
			values = append(values, value, bare)
		}
	}
	return values
}

// Open creates a Tracer configured by OpenTelemetry's variables in this process: endpoint,
// headers, certificates, sampler, service name. If the collector does not answer, spans are
// lost and the error is logged. vendor names the provider of an endpoint.
func Open(ctx context.Context, version string, vendor func(endpoint string) string, log *slog.Logger) (*Tracer, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("cannot send traces", "error", err) }))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "OTEL", "cannot send traces: %v", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "podd"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "OTEL", "cannot read OTEL_RESOURCE_ATTRIBUTES: %v", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	return newTracer(provider, vendor), nil
}

// Close ends open spans, and sends the ones that are not sent yet.
func (t *Tracer) Close(ctx context.Context) {
	t.endAll()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}
