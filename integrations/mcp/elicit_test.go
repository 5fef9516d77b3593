//go:build integrations

package mcp

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// answer is a text that a question shows, and what podctl answer says.
type answer struct {
	shows string
	says  []string
}

func says(shows string, words ...string) answer { return answer{shows, words} }

// answers runs a turn, and answers what the servers ask in it.
func answers(t *testing.T, w *rig.World, list ...answer) {
	t.Helper()
	w.Podctl("submit", "-p", create(w), "go")
	defer func() {
		if t.Failed() {
			t.Log(w.Podctl("questions"), w.Podctl("tail", "demo", "-n", "100"))
		}
	}()
	for _, a := range list {
		rig.Await(t, "the question "+a.shows, func() bool { return strings.Contains(w.Podctl("questions"), a.shows) })
		w.Podctl(append([]string{"answer", "demo"}, a.says...)...)
	}
	rig.Await(t, "the end of the turn", func() bool { return strings.Contains(w.Podctl("list"), " idle ") })
}

// each answers each question of a form: "#1,2" chooses, other words are a text.
func each(replies ...string) (words []string) {
	for i, reply := range replies {
		choices, chooses := strings.CutPrefix(reply, "#")
		if !chooses {
			words = append(words, "--text", fmt.Sprintf("%d:%s", i+1, reply))
			continue
		}
		for choice := range strings.SplitSeq(choices, ",") {
			words = append(words, "--choice", fmt.Sprintf("%d:%s", i+1, choice))
		}
	}
	return words
}

// The reference server asks with each kind of field, and with addresses: in a request, and by refusing a call.
func TestEverythingAsks(t *testing.T) {
	const url = "mcp__all__trigger-url-elicitation"
	w := rig.Prepare(t, calls(
		call(1, "mcp__all__trigger-elicitation-request", map[string]any{}),
		call(2, "mcp__all__trigger-elicitation-request", map[string]any{}),
		call(3, url, map[string]any{"url": "https://pay.example.com/a"}),
		call(4, url, map[string]any{"url": "https://pay.example.com/b", "errorPath": true}),
	))
	w.Configure(fmt.Sprintf("[mcp.servers.all]\ncommand = \"node\"\nargs = [%q, \"stdio\"]\n", server(t, "everything")) + allow)
	w.Start()
	answers(t, w,
		says("Question 1, String: Your full, legal name", each("Ada", "#1", "-", "ada@example.com", "https://ada.example", "1815-12-10", "7", "2.5")...),
		says("Question 1, String: Your full, legal name", "--dismiss"),
		says("of the host pay.example.com:\nhttps://pay.example.com/a", "--choice", "1"),
		says("https://modelcontextprotocol.io", "--choice", "1"),
		says("https://pay.example.com/b", "--choice", "2"),
	)
	got := results(t, w)
	want(t, got, `"check": true`, "User declined", "User completed", "User declined")
	for _, part := range []string{
		`"name": "Ada"`, `"firstLine": "It was a dark and stormy night."`, `"email": "ada@example.com"`, `"homepage": "https://ada.example"`,
		`"birthdate": "1815-12-10"`, `"integer": 7`, `"number": 2.5`, `"titledSingleSelectEnum": "hero-1"`, `"legacyTitledEnum": "pet-1"`,
	} {
		if !strings.Contains(got[0], part) {
			t.Errorf("without %s:\n%s", part, got[0])
		}
	}
}

// The example of the TypeScript SDK checks what it gets against its schema, and asks twice in a call. It speaks HTTP.
func TestExampleOfTypeScriptAsks(t *testing.T) {
	address := rig.Address()
	w := rig.Prepare(t, calls(
		call(1, "mcp__forms__register_user", map[string]any{}),
		call(2, "mcp__forms__create_event", map[string]any{}),
		call(3, "mcp__forms__update_shipping_address", map[string]any{}),
	))
	_, port, _ := net.SplitHostPort(address)
	node := w.Command("node", rig.NPM(t, "@modelcontextprotocol", "sdk", "dist", "esm", "examples", "server", "elicitationFormExample.js"))
	node.Env = append(node.Env, "PORT="+port)
	serve(t, node, address)
	w.Configure(fmt.Sprintf("[mcp.servers.forms]\nurl = \"http://localhost:%s/mcp\"\n", port) + allow)
	w.Start()
	answers(t, w,
		says("Question 5, Role: Your primary role", each("ada", "ada@example.com", "12345678", "-", "#3", "#2,5")...),
		says("Step 1", each("Tea", "-")...),
		says("Step 2", each("2026-12-24", "16:00", "45")...),
		says("shipping address", each("Ada", "1 Main St", "Springfield", "IL", "62701", "-")...),
	)
	want(t, results(t, w), "Registration successful!", `"duration": 45`, `"state": "IL"`)
	wantAlerts(t, w)
}

// Another example of the TypeScript SDK asks with names for its choices, and with bounds.
func TestStreamableExampleAsks(t *testing.T) {
	const info = "mcp__info__collect-user-info"
	address := rig.Address()
	w := rig.Prepare(t, calls(
		call(1, info, map[string]any{"infoType": "contact"}),
		call(2, info, map[string]any{"infoType": "preferences"}),
		call(3, info, map[string]any{"infoType": "feedback"}),
		call(4, info, map[string]any{"infoType": "feedback"}),
	))
	_, port, _ := net.SplitHostPort(address)
	node := w.Command("node", rig.NPM(t, "@modelcontextprotocol", "sdk", "dist", "esm", "examples", "server", "simpleStreamableHttp.js"))
	node.Env = append(node.Env, "MCP_PORT="+port)
	serve(t, node, address)
	w.Configure(fmt.Sprintf("[mcp.servers.info]\nurl = \"http://localhost:%s/mcp\"\n", port) + allow)
	w.Start()
	answers(t, w,
		says("Please provide your contact information", each("Ada", "ada@example.com", "-")...),
		says("Please set your preferences", each("#3", "#2", "#1")...),
		says("Rate your experience (1-5)", each("5", "-", "#1")...),
		says("Rate your experience (1-5)", "--dismiss"),
	)
	want(t, results(t, w), `"email": "ada@example.com"`, `"theme": "auto"`, `"rating": 5`, "User declined")
}

// The example of the Go SDK speaks the newest version, and still asks as before it: its own library refuses that, and the model hears why.
func TestExampleOfGoAsks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "everything")
	build := exec.Command("go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/examples/server/everything")
	build.Dir = rig.Root()
	rig.Run(t, build)
	w := rig.Prepare(t, calls(call(1, "mcp__go__elicit__form_", map[string]any{})))
	w.Configure(fmt.Sprintf("[mcp.servers.go]\ncommand = %q\n", program) + allow)
	w.Start()
	w.Podctl("submit", "-f", "-p", create(w), "go")
	want(t, results(t, w), "cannot be sent while serving a request on protocol version 2026-07-28")
}

// The example of mcp-go, a library of others, asks with a choice, a yes or no and a default, and asks only sometimes.
func TestExampleOfMCPGoAsks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "elicitation")
	build := exec.Command("go", "build", "-o", program, "github.com/mark3labs/mcp-go/examples/elicitation")
	build.Dir = filepath.Join(rig.Root(), "integrations", "mcp", "elicits")
	rig.Run(t, build)
	const create = "mcp__go__create_project"
	long := map[string]any{"data": strings.Repeat("x", 101)}
	w := rig.Prepare(t, calls(
		call(1, create, map[string]any{}),
		call(2, create, map[string]any{}),
		call(3, create, map[string]any{}),
		call(4, "mcp__go__process_data", map[string]any{"data": "short"}),
		call(5, "mcp__go__process_data", long),
		call(6, "mcp__go__process_data", long),
	))
	w.Configure(fmt.Sprintf("[mcp.servers.go]\ncommand = %q\n", program) + allow)
	w.Start()
	answers(t, w,
		says("projectName: Name of the project (a text, at least 1 character)", each("#2", "#2", "orchard")...),
		says("Frontend framework to use", each("-", "-", "meadow")...),
		says("Frontend framework to use", "--dismiss"),
		says("The data is 101 characters long", each("#1", "it is mine")...),
		says("The data is 101 characters long", "--dismiss"),
	)
	want(t, results(t, w), "Created project 'orchard' with framework: vue, tests: false", "Created project 'meadow' with framework: none, tests: true",
		"declined", "Processed 5 characters", "Processed 101 characters", "cancelled by user")
}
