//go:build integrations

package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/internal/testing/pgtest"
	"podd/pkg/llm/scripted"
)

// mcpNode names the node whose MCP server this process is.
const mcpNode = "PODD_TEST_MCP_NODE"

// TestMain makes an MCP server of the test binary when a podd starts it.
func TestMain(m *testing.M) {
	if node := os.Getenv(mcpNode); node != "" {
		serveMCP(node)
		return
	}
	os.Exit(m.Run())
}

// serveMCP offers the tool hold, whose calls are answered once the file release is there. It
// writes what happens to the file calls.
func serveMCP(node string) {
	tell := func(what string) {
		f, err := os.OpenFile("calls", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, node, what)
			_ = f.Close()
		}
	}
	answer := func(id json.RawMessage, result any) {
		line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
		_, _ = os.Stdout.Write(append(line, '\n'))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			answer(m.ID, map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "calls", "version": "1"},
			})
		case "tools/list":
			answer(m.ID, map[string]any{"tools": []any{map[string]any{
				"name": "hold", "description": "Waits.", "inputSchema": map[string]any{"type": "object"},
			}}})
		case "tools/call":
			tell("began")
			go func() {
				for {
					if _, err := os.Stat("release"); err == nil {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				answer(m.ID, map[string]any{"content": []any{map[string]any{"type": "text", "text": "held"}}})
				tell("answered")
			}()
		case "notifications/cancelled":
			tell("cancelled")
		}
	}
}

// holding is a model that calls the MCP server twice in one step. One of the calls waits for the
// other.
func holding(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps() > 0 {
		return scripted.Say(scripted.Text("done"))
	}
	return scripted.Say(
		scripted.Call{ID: "first", Name: "mcp__calls__hold", Arguments: "{}"},
		scripted.Call{ID: "second", Name: "mcp__calls__hold", Arguments: "{}"},
	)
}

// A call of an MCP server for a movable pod ends with the lease of its node, and no other one begins
// afterwards: where the node cannot reach the database, and where it was stopped meanwhile. Another
// node repeats none.
func TestNodesEndMCPCalls(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		t.Run(fmt.Sprintf("stopped %v", stopped), func(t *testing.T) {
			var link *pgtest.Proxy
			tm := startTeam(t, holding, func(tm *team, node, config string) string {
				if node == "n1" {
					link = proxy(t, tm.server)
					config = strings.Replace(config, tm.server.URL(), link.URL(), 1)
				}
				return config + fmt.Sprintf("[limits]\nmax_parallel_calls = 1\n[[rule]]\ntool = \"mcp__*\"\ndecision = \"allow\"\n"+
					"[mcp.servers.calls]\ncommand = %q\nenv = { %s = %q }\n", os.Args[0], mcpNode, node)
			})
			n1, n3 := tm.nodes["n1"], tm.nodes["n3"]
			dir := tm.pod("calls")
			told := func() string {
				text, _ := os.ReadFile(filepath.Join(dir, "calls"))
				return string(text)
			}
			await := func(line string) {
				t.Helper()
				rig.Await(t, line, func() bool { return strings.Contains(told(), line+"\n") })
			}
			n1.Podctl("submit", "-p", "calls", "go")
			await("n1 began")
			// Another node makes a call that is not in the log yet.
			rig.Await(t, "both calls in the log", func() bool { return kinds(t, n3, "calls", "tool_started") == 2 })
			var back func()
			if stopped {
				n1.Signal(syscall.SIGSTOP)
				back = sync.OnceFunc(func() { n1.Signal(syscall.SIGCONT) })
				t.Cleanup(back)
			} else {
				back = sync.OnceFunc(link.Hold())
				t.Cleanup(back)
				await("n1 cancelled")
			}
			tm.taken("calls")
			rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "calls", "turn_ended") == 1 })
			// A podd that was stopped finds the answer when it wakes, and the other call is next.
			if err := os.WriteFile(filepath.Join(dir, "release"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			await("n1 answered")
			back()
			ends(t, n1)
			if strings.Count(told(), "began") != 1 {
				t.Errorf("more than one call began:\n%s", told())
			}
			log := n3.Podctl("tail", "calls", "--after", "0", "-o", "json")
			if strings.Count(log, "may have taken effect") < 2 {
				t.Errorf("the log does not say what is known of both calls:\n%s", log)
			}
		})
	}
}

// proxy stands between a node and the database.
func proxy(t *testing.T, s *pgtest.Server) *pgtest.Proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p, err := s.NewProxy(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
