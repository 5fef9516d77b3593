//go:build integrations

// Package mcp tests podd with the reference servers of the Model Context Protocol, over
// standard streams and streamable HTTP.
package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// server is the command of a reference server.
func server(t *testing.T, name string) string {
	t.Helper()
	return rig.NPM(t, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
}

// calls is a model that makes one call after another in each turn, then ends it.
func calls(list ...scripted.Call) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		n := 0
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				n++
			}
		}
		if n >= len(list) {
			return scripted.Say(scripted.Text("Done."))
		}
		return scripted.Say(list[n])
	}
}

func call(n int, tool string, arguments any) scripted.Call {
	text, _ := json.Marshal(arguments)
	return scripted.Call{ID: fmt.Sprint("c", n), Name: tool, Arguments: string(text)}
}

const allow = "\n[[rule]]\ntool = \"mcp__*\"\ndecision = \"allow\"\n"

// results are the results of all tool calls of the pod's log.
func results(t *testing.T, w *rig.World) []string {
	t.Helper()
	var all []string
	lines := bufio.NewScanner(strings.NewReader(w.Podctl("tail", "demo", "--after", "0", "-o", "json")))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m struct {
			Entry struct {
				Item struct {
					ToolResult *struct{ Summary, Content string } `json:"tool_result"`
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if r := m.Entry.Item.ToolResult; r != nil {
			all = append(all, r.Summary+"\n"+r.Content)
		}
	}
	return all
}

func want(t *testing.T, got []string, parts ...string) {
	t.Helper()
	if len(got) != len(parts) {
		t.Fatalf("%d results, want %d:\n%s", len(got), len(parts), strings.Join(got, "\n---\n"))
	}
	for n, part := range parts {
		if !strings.Contains(got[n], part) {
			t.Errorf("result %d is without %q:\n%s", n+1, part, got[n])
		}
	}
}

// wantAlerts checks that podd raised exactly these alerts about MCP servers.
func wantAlerts(t *testing.T, w *rig.World, texts ...string) {
	t.Helper()
	out := w.Podctl("alerts", "-o", "json")
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("no alert says %q:\n%s", text, out)
		}
	}
	if strings.Count(out, `"source":"mcp"`) != len(texts) {
		t.Errorf("alerts:\n%s", out)
	}
}

func TestFilesystem(t *testing.T) {
	w := rig.Prepare(t, calls(
		call(1, "mcp__files__write_file", map[string]any{"path": "new.txt", "content": "written by the server\n"}),
		call(2, "mcp__files__read_text_file", map[string]any{"path": "new.txt"}),
		call(3, "mcp__files__list_directory", map[string]any{"path": "."}),
		call(4, "mcp__files__read_text_file", map[string]any{"path": "/etc/passwd"}),
	))
	w.Configure(fmt.Sprintf("[mcp.servers.files]\ncommand = \"node\"\nargs = [%q, \".\"]\n", server(t, "filesystem")) + allow)
	w.Start()
	if out := w.Podctl("mcp", "test", "files"); !strings.Contains(out, "files works: ready in ") || !strings.Contains(out, "mcp__files__read_text_file") {
		t.Errorf("the test says\n%s", out)
	}
	w.Podctl("submit", "-f", "-p", create(w), "go")
	want(t, results(t, w), "", "written by the server", "[FILE] new.txt", "Access denied")
	if text, err := os.ReadFile(filepath.Join(w.Workspace, "new.txt")); err != nil || string(text) != "written by the server\n" {
		t.Errorf("%q, %v", text, err)
	}
	wantAlerts(t, w)
}

// create creates the pod demo in the workspace.
func create(w *rig.World) string {
	w.Podctl("create", "demo")
	return "demo"
}

// everything are calls to the server that covers the whole protocol.
func everything() scripted.Handler {
	return calls(
		call(1, "mcp__all__echo", map[string]any{"message": "hello"}),
		call(2, "mcp__all__get-sum", map[string]any{"a": 2, "b": 40}),
		call(3, "mcp__all__get-tiny-image", map[string]any{}),
		call(4, "mcp__all__trigger-long-running-operation", map[string]any{"duration": 1, "steps": 3}),
		call(5, "mcp__all__get-structured-content", map[string]any{"location": "Chicago"}),
		call(6, "mcp__all__read_resource", map[string]any{}),
		call(7, "mcp__all__get_prompt", map[string]any{"name": "simple-prompt"}),
		call(8, "mcp__all__get-sum", map[string]any{"a": "two"}),
	)
}

func wantEverything(t *testing.T, w *rig.World) {
	t.Helper()
	want(t, results(t, w), "hello", "42", "[image 20x20, ", "ompleted", "temperature", "demo://resource/", "user: ", "expected number")
	wantAlerts(t, w, "the tool simulate-research-query is left out")
	list := w.Podctl("mcp", "list", "demo")
	for _, part := range []string{"state: running", "  tool ", "  resource ", "  prompt "} {
		if !strings.Contains(list, part) {
			t.Errorf("the list is without %q:\n%s", part, list)
		}
	}
}

func TestEverythingOverPipes(t *testing.T) {
	w := rig.Prepare(t, everything())
	w.Configure(fmt.Sprintf("[mcp.servers.all]\ncommand = \"node\"\nargs = [%q, \"stdio\"]\n", server(t, "everything")) + allow)
	w.Start()
	w.Podctl("submit", "-f", "-p", create(w), "go")
	wantEverything(t, w)
}

// serve starts a server until the test ends, and waits for its address.
func serve(t *testing.T, node *exec.Cmd, address string) {
	t.Helper()
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
	})
	rig.Await(t, "the server", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func TestEverythingOverHTTP(t *testing.T) {
	address := rig.Address()
	w := rig.Prepare(t, everything())
	_, port, _ := net.SplitHostPort(address)
	node := w.Command("node", server(t, "everything"), "streamableHttp")
	node.Env = append(node.Env, "PORT="+port)
	serve(t, node, address)
	w.Configure(fmt.Sprintf("[mcp.servers.all]\nurl = \"http://%s/mcp\"\n", address) + allow)
	w.Start()
	w.Podctl("submit", "-f", "-p", create(w), "go")
	wantEverything(t, w)
}
