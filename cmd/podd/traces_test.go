package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"podd/pkg/llm/scripted"
)

// receiver receives spans as an OpenTelemetry collector does.
type receiver struct {
	mu    sync.Mutex
	spans map[string]*otlp.Span
	all   string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all += sent.String()
	for _, resource := range sent.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans[span.GetName()] = span
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// tracedPodd runs a turn with a tool in a podd with these variables, until podd ends.
func tracedPodd(t *testing.T, env ...string) *process {
	t.Helper()
	state := stateDir(t)
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "read_file", Arguments: `{"path":"a-secret"}`})
		}
		return scripted.Say(scripted.Text("a secret"))
	})
	cmd := exec.Command(os.Args[0], "--state-dir", state)
	cmd.Env = append(env, runAsPodd+"=1", "PATH="+os.Getenv("PATH"), "HOME="+state, "OPENAI_BASE_URL="+url, "GORACE=exitcode=99 atexit_sleep_ms=0")
	p := startProcess(t, state, cmd)
	if strings.Contains(p.log.String(), "podd ready") {
		c := p.client()
		createAndSubmit(t, c, t.TempDir())
		until(t, c, turnEnded(1))
		p.signal(syscall.SIGTERM)
	}
	p.wait()
	return p
}

// A turn's spans arrive at a collector, nested, and contain no text of the conversation.
func TestTraces(t *testing.T) {
	r := &receiver{spans: make(map[string]*otlp.Span)}
	s := httptest.NewServer(r)
	defer s.Close()
	p := tracedPodd(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+s.URL, "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=here")
	turn, chat, tool := r.spans["invoke_agent p"], r.spans["chat scripted"], r.spans["execute_tool read_file"]
	if turn == nil || chat == nil || tool == nil {
		t.Fatalf("spans %v\n%s", r.all, p.log.String())
	}
	for _, child := range []*otlp.Span{chat, tool} {
		if string(child.GetParentSpanId()) != string(turn.GetSpanId()) || string(child.GetTraceId()) != string(turn.GetTraceId()) ||
			child.GetStartTimeUnixNano() > child.GetEndTimeUnixNano() {
			t.Errorf("%v is not within %v", child, turn)
		}
	}
	if tool.GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR || chat.GetKind() != otlp.Span_SPAN_KIND_CLIENT {
		t.Errorf("%v\n%v", tool, chat)
	}
	for _, want := range []string{"gen_ai.usage.input_tokens", "gen_ai.tool.call.id", "service.name", "deployment.environment.name", "finished"} {
		if !strings.Contains(r.all, want) {
			t.Errorf("%s is not in %s", want, r.all)
		}
	}
	if strings.Contains(r.all, "secret") {
		t.Errorf("what was said is sent: %s", r.all)
	}
}

// podd sends no traces unless a variable asks for them. It refuses an unsupported setting
// with a sentence, and an unreachable collector does not affect turns.
func TestNoTraces(t *testing.T) {
	r := &receiver{spans: make(map[string]*otlp.Span)}
	s := httptest.NewServer(r)
	defer s.Close()
	endpoint := "OTEL_EXPORTER_OTLP_ENDPOINT=" + s.URL
	if p := tracedPodd(t, endpoint, "OTEL_SDK_DISABLED=true"); r.all != "" || p.cmd.ProcessState.ExitCode() != exitDone {
		t.Errorf("%s\n%s", r.all, p.log.String())
	}
	p := tracedPodd(t, endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	if code, log := p.cmd.ProcessState.ExitCode(), p.log.String(); code != exitUsage || !strings.Contains(log, "http/protobuf") {
		t.Errorf("exit code %d: %s", code, log)
	}
	p = tracedPodd(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT=500")
	if code, log := p.cmd.ProcessState.ExitCode(), p.log.String(); code != exitDone || !strings.Contains(log, "cannot send traces") {
		t.Errorf("exit code %d: %s", code, log)
	}
}
