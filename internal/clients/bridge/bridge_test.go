package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/clients/bridge"
	"podd/pkg/client"
)

// alone is the configuration of a bridge without a podd.
func alone(t *testing.T) bridge.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "bridge") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c, err := client.New(client.Config{Socket: filepath.Join(dir, "s"), Patient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return bridge.Config{Client: c, Socket: filepath.Join(dir, "s"), FindPod: func(context.Context, string, bool) (string, bool, error) {
		return "", false, errors.New("none")
	}}
}

// said runs a bridge on an input and returns its output lines.
func said(t *testing.T, cfg bridge.Config, input string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	cfg.In, cfg.Out = strings.NewReader(input), &out
	if err := bridge.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, object)
	}
	return lines
}

func reason(object map[string]any) any {
	e, _ := object["error"].(map[string]any)
	return e["reason"]
}

// Each wrong line gets one error, and the bridge continues.
func TestWrongLines(t *testing.T) {
	tests := []struct{ line, reason string }{
		{"nonsense", "BAD_LINE"},
		{`{"id":1,"method":"Nonsense"}`, "UNKNOWN_METHOD"},
		{`{"id":1,"method":"Backup"}`, "UNKNOWN_METHOD"},
		{`{"id":1,"method":"GetPod","params":{"pot":"p"}}`, "BAD_PARAMS"},
		{`{"id":1,"method":"GetPod","params":[]}`, "BAD_PARAMS"},
		{`{"id":1,"method":"Stream","params":{"after_seq":"x"}}`, "BAD_PARAMS"},
		{`{"id":1,"method":"StreamAlerts","params":5}`, "BAD_PARAMS"},
		{`{"id":1,"method":"DiffFiles","params":{"turn":[]}}`, "BAD_PARAMS"},
		{`{"id":1,"method":"Unstream","params":{"stream":9}}`, "NO_STREAM"},
		{`{"id":1,"method":"Unstream","params":{"id":9}}`, "BAD_PARAMS"},
		{`{"id":1,"method":"FindPod","params":{"dir":"x"}}`, "BAD_PARAMS"},
		{`{"id":1,"method":"FindPod","params":{"dir":"/nothing/there"}}`, "BAD_DIR"},
		{`{"id":1,"method":"ListPods"}`, "UNREACHABLE"},
		{`{"id":1,"method":"ListPods","x":"` + strings.Repeat("x", 33<<20) + `"}`, "LINE_TOO_LONG"},
	}
	cfg := alone(t)
	for _, tt := range tests {
		lines := said(t, cfg, tt.line+"\n"+`{"id":"last","method":"Unstream","params":{"stream":8}}`)
		if len(lines) != 3 || lines[0]["hello"] == nil {
			t.Fatalf("%.60s: the bridge said %v", tt.line, lines)
		}
		// Answers may come in any order.
		wrong, last := lines[1], lines[2]
		if wrong["id"] == "last" {
			wrong, last = last, wrong
		}
		if reason(wrong) != tt.reason || last["id"] != "last" || reason(last) != "NO_STREAM" {
			t.Errorf("%.60s: the bridge said %v and %v, want %s", tt.line, wrong, last, tt.reason)
		}
	}
}

func TestHelloWithoutPodd(t *testing.T) {
	lines := said(t, alone(t), "")
	hello, _ := lines[0]["hello"].(map[string]any)
	connection, _ := hello["connection"].(map[string]any)
	if hello["protocol"] != float64(bridge.Protocol) || hello["version"] == "" || connection["up"] != false || reason(connection) != "UNREACHABLE" {
		t.Errorf("the bridge greets with %v", lines[0])
	}
}

// While its output is not read, the bridge buffers only what is in flight, and it still
// ends with its input.
func TestNobodyReads(t *testing.T) {
	cfg := alone(t)
	in, feed := io.Pipe()
	unread, out := io.Pipe()
	cfg.In, cfg.Out, cfg.Grace = in, out, 10*time.Millisecond
	done := make(chan error, 1)
	go func() { done <- bridge.Run(t.Context(), cfg) }()
	if _, err := bufio.NewReader(unread).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := io.WriteString(feed, `{"id":1,"method":"GetStatus"}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = unread.Close() // The writer's last line; goleak sees that it ends.
}

// The bridge ends when its reader is gone, and when its context ends.
func TestOutputIsGone(t *testing.T) {
	cfg := alone(t)
	in, feed := io.Pipe()
	defer feed.Close()
	unread, out := io.Pipe()
	_ = unread.Close()
	cfg.In, cfg.Out = in, out
	if err := bridge.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "standard output") {
		t.Errorf("the bridge ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, feed2 := io.Pipe()
	defer feed2.Close()
	cfg.In, cfg.Out = in, io.Discard
	if err := bridge.Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("the bridge ends with %v", err)
	}
}

// For any input each output line is an object, and each input line has its answer.
func FuzzBridge(f *testing.F) {
	for _, seed := range []string{
		"{}\n[]\n", `{"id":1,"method":"ListPods"}` + "\nx", "\n\n", `{"id":1,"method":"Unstream","params":{"stream":1}}`,
		`{"id":1,"method":"Submit","params":{"segments":[{"text":{"text":"\u0000"}}]}}`, "\xff\xfe\n\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.Contains(input, "Stream") || len(input) > 4096 {
			t.Skip("streams have no single answer")
		}
		want := 1
		for line := range strings.SplitSeq(input, "\n") {
			if strings.TrimSpace(line) != "" {
				want++
			}
		}
		if lines := said(t, alone(t), input); len(lines) != want {
			t.Fatalf("%q: the bridge said %v, want %d lines", input, lines, want)
		}
	})
}
