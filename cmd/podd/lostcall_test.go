package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// shop is an MCP server with a tool that charges once per key, and answers a reconciler. The first answer to
// each path never comes.
type shop struct {
	*httptest.Server
	// asked gets the path of each request whose answer does not come; end lets those go.
	asked chan string
	end   chan struct{}

	mu sync.Mutex
	// charges and looks are the keys of calls and of a reconciler's questions.
	charges, looks []string
}

func openShop(t *testing.T) *shop {
	s := &shop{asked: make(chan string, 10), end: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.end)
		s.Close()
	})
	return s
}

// keep adds a key, and hangs after the first one.
func (s *shop) keep(list *[]string, path, key string) {
	s.mu.Lock()
	*list = append(*list, key)
	first := len(*list) == 1
	s.mu.Unlock()
	if first {
		s.asked <- path
		<-s.end
	}
}

func (s *shop) serve(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Version string         `json:"protocolVersion"`
			Meta    map[string]any `json:"_meta"`
		} `json:"params"`
		Call struct{ Key, Digest string } `json:"call"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == "/reconcile" {
		s.keep(&s.looks, "reconcile", m.Call.Key)
		fmt.Fprintf(w, `{"call":%q,"outcome":"done","output":"charge ch_17"}`, m.Call.Digest)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"pay","version":"1"}}`, m.Params.Version)
	case "tools/list":
		result = `{"tools":[{"name":"charge","description":"Charges.","inputSchema":{"type":"object","properties":{}},"annotations":{"idempotentHint":true}}]}`
	case "tools/call":
		s.keep(&s.charges, "call", fmt.Sprint(m.Params.Meta["podd.dev/call"]))
		result = `{"content":[{"type":"text","text":"charged"}]}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// podd is killed during a call of an MCP server, and where a reconciler knows the outcome, also while that runs.
// The call is made once, or twice with one key where a person says that this is safe.
func TestKillDuringACallOfAServer(t *testing.T) {
	const unknown = "interrupted; it may have taken effect: check before you repeat it"
	for name, tt := range map[string]struct {
		config         string
		dies           []string
		want           string
		how            poddv1.Recovery
		charges, looks int
	}{
		"unknown":   {dies: []string{"call"}, want: unknown, how: poddv1.Recovery_RECOVERY_UNKNOWN, charges: 1},
		"safe":      {config: `replay = "safe"`, dies: []string{"call"}, want: "charged", how: poddv1.Recovery_RECOVERY_AGAIN, charges: 2},
		"reconcile": {config: "[[reconcile]]\ntool = \"mcp__pay__charge\"\ncommand = [\"curl\", \"-sS\", \"--data-binary\", \"@-\", \"URL/reconcile\"]\n", dies: []string{"call", "reconcile"}, want: "mcp__pay__charge: done: podd ended during the call, and its reconciler found that it took effect", how: poddv1.Recovery_RECOVERY_FOUND, charges: 1, looks: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("curl"); err != nil && tt.looks > 0 {
				t.Skip(err)
			}
			s := openShop(t)
			state := stateDir(t)
			config := filepath.Join(t.TempDir(), "config.toml")
			text := "[[rule]]\ntool = \"mcp__pay__*\"\ndecision = \"allow\"\n[mcp.servers.pay]\nurl = \"URL/mcp\"\n" + tt.config
			if err := os.WriteFile(config, []byte(strings.ReplaceAll(text, "URL", s.URL)), 0o600); err != nil {
				t.Fatal(err)
			}
			url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
				if r.Steps() == 0 {
					return scripted.Say(scripted.Call{Name: "mcp__pay__charge", Arguments: `{}`})
				}
				return scripted.Say(scripted.Text("done"))
			})
			p := startPodd(t, state, url, "--config", config)
			createAndSubmit(t, p.client(), t.TempDir())
			for _, at := range tt.dies {
				if got := <-s.asked; got != at {
					t.Fatalf("podd waits for %s, not %s", got, at)
				}
				p.signal(syscall.SIGKILL)
				p.wait()
				p = startPodd(t, state, url, "--config", config)
			}
			var results []*poddv1.ToolResult
			for _, e := range until(t, p.client(), turnEnded(1)) {
				if r := e.GetItem().GetToolResult(); r != nil {
					results = append(results, r)
				}
			}
			if len(results) != 1 || results[0].GetSummary() != tt.want || results[0].GetRecovery() != tt.how {
				t.Errorf("results %+v", results)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			keys := slices.Concat(s.charges, s.looks)
			if len(s.charges) != tt.charges || len(s.looks) != tt.looks || len(keys[0]) != 32 || len(slices.Compact(keys)) != 1 {
				t.Errorf("calls %q, looks %q", s.charges, s.looks)
			}
		})
	}
}
