package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// page is podd's answer at its debug socket.
func page(t *testing.T, socket, path string) string {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://podd"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v, %v", path, resp.Status, err)
	}
	return string(body)
}

// A podd with a debug socket counts what its turns did: a retried request, calls, tokens,
// outcomes, and the current state.
func TestDebugSocket(t *testing.T) {
	dir, state, asked := t.TempDir(), stateDir(t), 0
	url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch asked++; {
		case asked == 1:
			return scripted.Fail(503, "busy", "come again", 0)
		case r.Steps() == 0:
			return scripted.Say(scripted.Call{Name: "list_dir", Arguments: `{"path":"."}`}, scripted.Call{Name: "read_file", Arguments: `{"path":"none"}`})
		}
		return scripted.Say(scripted.Text("a secret"))
	})
	socket := filepath.Join(state, "debug.sock")
	p := startPodd(t, state, url, "--debug-socket", socket)
	c := p.client()
	createAndSubmit(t, c, dir)
	until(t, c, turnEnded(1))
	wants := []string{
		`podd_pods{state="idle"} 1`, `podd_pods{state="running"} 0`, "podd_pods_loaded 1", "podd_approvals_waiting 0",
		`podd_turns_total{outcome="finished"} 1`, `podd_model_requests_total{outcome="ok"} 2`, `podd_model_requests_total{outcome="overloaded"} 1`,
		`podd_model_request_seconds_total{outcome="ok"} `, `kind="input"} `,
		`podd_tool_calls_total{tool="list_dir",outcome="ok"} 1`, `podd_tool_calls_total{tool="read_file",outcome="error"} 1`,
		`podd_alerts_total{level="warn",source="turn"} 1`, "podd_streams_open ", "podd_connections_open 1", "podd_store_commits_total ", "podd_store_bytes ",
		"go_goroutines ", "process_start_time_seconds ",
	}
	// Hooks get the end later than clients.
	text := ""
	for {
		if text = page(t, socket, "/metrics"); strings.Contains(text, "podd_turns_total") && strings.Contains(text, wants[0]) {
			break
		}
	}
	for _, want := range wants {
		if !strings.Contains(text, "\n"+want) && !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "podd_store_commits_total 0\n") {
		t.Errorf("the page is\n%s", text)
	}
	if text := page(t, socket, "/debug/pprof/cmdline"); !strings.Contains(text, "--debug-socket") {
		t.Errorf("%q", text)
	}
	// The socket is podd's own, like the others: no pod's tools reach it.
	got, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "q", Spec: &poddv1.PodSpec{Dir: dir, Read: []string{socket}}})
	if err == nil {
		t.Errorf("a pod may read podd's debug socket: %v", got)
	}
}
