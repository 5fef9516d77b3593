package mcp_test

import (
	"reflect"
	"strings"
	"testing"

	"podd/internal/extend/mcp"
)

func TestProjectMCP(t *testing.T) {
	t.Parallel()
	servers, refused := mcp.ParseServers(".mcp.json", []byte(`{"mcpServers": {
		"b": {"type": "http", "url": "${URL:-https://example.com}/mcp", "headers": {"A": "${B}"}},
		"a": {"command": "./server", "args": ["x"], "env": {"K": "${V}", "A": "1"}, "alwaysAllow": ["x"], "replay": "safe", "Replay": "safe"},
		"off": {"command": "x", "disabled": true},
		"old": {"type": "sse", "url": "https://example.com/sse"},
		"bad name": {"command": "x"},
		"key": {"command": "x", "env": {"OPENAI_API_KEY": "x"}},
		"none": {}
	}}`))
	if len(servers) != 2 || servers[0].Name != "a" || servers[1].Name != "b" || !servers[0].Expand ||
		!reflect.DeepEqual(servers[0].Env, []string{"A=1", "K=${V}"}) || servers[0].Origin != ".mcp.json" || servers[0].Replay != mcp.ReplayNever {
		t.Errorf("%+v", servers)
	}
	all := strings.Join(refused, "\n")
	for _, want := range []string{`the server "old" has the type "sse"`, `the server "bad name" has the name`, `"key" has OPENAI_API_KEY`, `"none" has neither`} {
		if len(refused) != 4 || !strings.Contains(all, want) {
			t.Errorf("%q is not told in %d:\n%s", want, len(refused), all)
		}
	}
	for _, text := range []string{"", "[]", "{\"mcpServers\": []}", "{\"mcpServers\": {\"a\": {\"args\": 1}}}"} {
		if servers, refused := mcp.ParseServers("f", []byte(text)); len(servers) != 0 || len(refused) != 1 || !strings.Contains(refused[0], "f: not a valid list of MCP servers: ") {
			t.Errorf("%s: %v %q", text, servers, refused)
		}
	}
}

// Whatever a workspace writes there, the results are valid servers.
func FuzzParseMCP(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "env": {"A": "b"}}, "b": {"url": "http://h/"}}}`))
	f.Add([]byte(`{"mcpServers": {"": {}, "a__b": {"command": "x"}, "c": {"command": "x", "url": "y"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		servers, _ := mcp.ParseServers("f", text)
		for _, s := range servers {
			if !mcp.IsName(s.Name) || (s.Command == "") == (s.URL == "") || s.Timeout <= 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
