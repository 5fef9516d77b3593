// Package traces sends what turns did to an OpenTelemetry collector, as spans by the GenAI
// conventions: invoke_agent for a turn, chat for a model request, execute_tool for a call.
// It is a hook: nothing of a turn knows of it. What is said in a turn is never sent.
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

// endTime bounds how long the last spans may take to be sent.
const endTime = 3 * time.Second

// Wanted says whether the environment asks for traces, by OpenTelemetry's variables.
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
			return false, item.Errorf(item.KindInvalid, "OTEL", "%s is %q: podd sends traces by http/protobuf alone", name, protocol)
		}
	}
	return true, nil
}

// Secrets are the values of the headers that an environment has sent to collectors: keys, as
// a rule. One that names a scheme, such as Bearer, is there without it too.
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

// Open sends to where OpenTelemetry's variables of this process say: endpoint, headers,
// certificates, sampler, service name. A collector that does not answer costs spans, and
// is logged.
func Open(ctx context.Context, version string, log *slog.Logger) (*Tracer, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent", "error", err) }))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "OTEL", "traces can't be sent: %v", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "podd"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "OTEL", "OTEL_RESOURCE_ATTRIBUTES can't be read: %v", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	return newTracer(provider), nil
}

// Close ends the spans that are open, and sends what waits.
func (t *Tracer) Close(ctx context.Context) {
	t.endAll()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}
