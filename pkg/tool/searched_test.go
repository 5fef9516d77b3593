package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// other is a tool of another program.
func other(t testing.TB, name, description, schema string) tool.Tool {
	t.Helper()
	made, err := tool.NewForeign(tool.Foreign{
		ToolSpec: item.ToolSpec{Name: name, Description: description, Schema: schema},
		Touches:  func() tool.Access { return tool.Access{} },
		Call: func(_ context.Context, c *tool.Invocation) (tool.Output, error) {
			return tool.FromString(c.Arguments), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const noArguments = `{"properties":{},"type":"object"}`

// github are tools as a real server has them.
func github(t testing.TB) []tool.Tool {
	return []tool.Tool{
		other(t, "mcp__github__add_issue_comment", "Add a comment to a specific issue in a GitHub repository.", noArguments),
		other(t, "mcp__github__create_branch", "Create a new branch in a GitHub repository", noArguments),
		other(t, "mcp__github__create_pull_request", "Create a new pull request in a GitHub repository.", noArguments),
		other(t, "mcp__github__get_file_contents", "Get the contents of a file or directory from a GitHub repository", noArguments),
		other(t, "mcp__github__issue_write", "Create a new or update an existing issue in a GitHub repository.",
			`{"type":"object","properties":{"title":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}},"required":["title"],"additionalProperties":false}`),
		other(t, "mcp__github__listCommits", "Get list of commits of a branch. The author can be given by email.", noArguments),
		other(t, "mcp__time__now", "The current time of a time zone.", `{"type":"object","properties":{"timezone":{"type":"string"}}}`),
	}
}

func searched(t testing.TB, others ...tool.Tool) *tool.Registry {
	t.Helper()
	r, err := tool.NewSearched([]tool.Tool{other(t, "own", "Own.", noArguments)}, others, "those of the MCP servers github, time")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t testing.TB, r *tool.Registry, query string) tool.Output {
	t.Helper()
	f, ok := r.Lookup(tool.FindTool)
	if !ok {
		t.Fatal("no find_tool")
	}
	arguments, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Run(t.Context(), &tool.Invocation{Arguments: string(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Requests list the tools that are not searched, and two more, whatever the searched ones are.
func TestSearchedListsTwoTools(t *testing.T) {
	r := searched(t, github(t)...)
	var names []string
	size := 0
	for _, s := range r.Specs() {
		names = append(names, s.Name)
		size += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	if !slices.Equal(names, []string{"own", "find_tool", "call_tool"}) || size > 900 {
		t.Errorf("%q with %d bytes", names, size)
	}
	if fewer := searched(t, github(t)[:2]...).Specs(); !slices.Equal(fewer, r.Specs()) {
		t.Errorf("other tools change the list: %+v", fewer)
	}
	if _, ok := r.Lookup("mcp__time__now"); !ok {
		t.Error("a tool is not found by its name")
	}
}

func TestFindTool(t *testing.T) {
	r := searched(t, github(t)...)
	for query, want := range map[string]string{
		"create an issue":          "mcp__github__issue_write",
		"comment on issues":        "mcp__github__add_issue_comment",
		"pull requests":            "mcp__github__create_pull_request",
		"commit history":           "mcp__github__listCommits",
		"LIST COMMITS":             "mcp__github__listCommits",
		"read a file":              "mcp__github__get_file_contents",
		"timezone":                 "mcp__time__now",
		"what time is it now":      "mcp__time__now",
		"mcp__github__issue_write": "mcp__github__issue_write",
	} {
		first, _, _ := strings.Cut(find(t, r, query).Content, "\n")
		if first != want {
			t.Errorf("%q finds %s first, want %s", query, first, want)
		}
	}
	two := find(t, r, "mcp__time__now, mcp__github__create_branch")
	if want := `find_tool: 2 of 7 tools for "mcp__time__now, mcp__github__create_branch": mcp__time__now, mcp__github__create_branch; call one with call_tool`; two.Summary != want {
		t.Errorf("%q, want %q", two.Summary, want)
	}
	if want := "mcp__time__now\nThe current time of a time zone.\narguments: {\"properties\":{\"timezone\":{\"type\":\"string\"}},\"type\":\"object\"}\n"; !strings.HasPrefix(two.Content, want) {
		t.Errorf("%q does not begin with %q", two.Content, want)
	}
	none := find(t, r, "zeppelin")
	if !strings.Contains(none.Summary, `none of 7 tools fits "zeppelin"`) || !strings.Contains(none.Content, "mcp__github__create_branch, ") {
		t.Errorf("%+v", none)
	}
}

// While a call of call_tool is written, it is one of the tool that it names, once it does.
func TestNamed(t *testing.T) {
	r := searched(t)
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ name, arguments, want string }{
		{"own", `{"name":"other"}`, "own"},
		{"find_tool", ``, "find_tool"},
		{"call_tool", ``, ""},
		{"call_tool", `{"na`, ""},
		{"call_tool", `{"name":"mcp__time__n`, ""},
		{"call_tool", `{"name":"mcp__time__now"`, "mcp__time__now"},
		{"call_tool", `{ "name" : "mcp__time__now", "arguments": {"name": "x"`, "mcp__time__now"},
		{"call_tool", `{"arguments": {"name": "x"}, "name": "mcp__time__now"}`, "mcp__time__now"},
		{"call_tool", `{"arguments": {"name": "x"}`, ""},
		{"call_tool", `{"name": 7, "arguments"`, ""},
		{"call_tool", `["name", "x"]`, ""},
		{"call_tool", `{"arguments": "` + long + `", "name": "mcp__time__now"}`, ""},
		{"nameless", `{"name":"x"}`, "nameless"},
	} {
		if got := r.Named(c.name, c.arguments); got != c.want {
			t.Errorf("%s %.60s names %q, want %q", c.name, c.arguments, got, c.want)
		}
	}
	plain, err := tool.NewRegistry(other(t, "call_tool", "Calls.", noArguments))
	if err != nil {
		t.Fatal(err)
	}
	if got := plain.Named("call_tool", `{"name":"x"}`); got != "call_tool" {
		t.Errorf("another tool of that name is shown as %q", got)
	}
}

// What find_tool shows is bounded, however many and large tools are; the first is shown whole.
func TestFindToolIsBounded(t *testing.T) {
	schema := `{"properties":{"a":{"description":"` + strings.Repeat("x", 7000) + `","type":"string"}},"type":"object"}`
	var many []tool.Tool
	for i := range 300 {
		many = append(many, other(t, fmt.Sprintf("mcp__big__make_%03d", i), strings.Repeat("Make it. ", 400), schema))
	}
	r := searched(t, many...)
	for _, query := range []string{"make", strings.Repeat("make ", 10_000), "nothing like it"} {
		if out := find(t, r, query); len(out.Content) > 14<<10 || len(out.Summary) > item.MaxSummaryBytes {
			t.Errorf("%d and %d bytes", len(out.Summary), len(out.Content))
		}
	}
	out := find(t, r, "make")
	if !strings.Contains(out.Content, schema) || !strings.Contains(out.Content, "These fit too; search for one of them to see it: mcp__big__make_0") {
		t.Errorf("%.300s", out.Content)
	}
	f, _ := r.Lookup(tool.FindTool)
	if _, err := f.Check(`{"query":"  "}`); err == nil || !strings.Contains(err.Error(), "query is empty") {
		t.Errorf("an empty query: %v", err)
	}
}

// A call of call_tool is one of the tool that it names, and goes back as the model wrote it.
func TestRealCalls(t *testing.T) {
	r := searched(t, github(t)...)
	for written, want := range map[string]string{
		`{"name":"mcp__time__now","arguments":{"timezone":"UTC"}}`:       `mcp__time__now {"timezone":"UTC"}`,
		`{"arguments":{ "b": 1, "a": 2 }, "name":"mcp__time__now"}`:      `mcp__time__now { "b": 1, "a": 2 }`,
		`{"name":"mcp__time__now","arguments":"{\"timezone\":\"UTC\"}"}`: `mcp__time__now {"timezone":"UTC"}`,
		`{"name":"mcp__time__now","arguments":null}`:                     `mcp__time__now {}`,
		`{"name":"mcp__time__now"}`:                                      `mcp__time__now {}`,
		`{"name":"no <such>","arguments":{}}`:                            `no <such> {}`,
		`{"name":"own","arguments":{}}`:                                  `own {}`,
	} {
		got := r.Real(item.ToolCall{CallID: "c", Name: "call_tool", Arguments: written})
		if got.Name+" "+got.Arguments != want || got.Via != "call_tool" || got.CallID != "c" {
			t.Errorf("%s: %+v, want %s", written, got, want)
		}
		name, arguments := got.Sent()
		if again := r.Real(item.ToolCall{CallID: "c", Name: name, Arguments: arguments}); again != got {
			t.Errorf("%s goes back as %s %s, which is %+v", written, name, arguments, again)
		}
	}
	for written, want := range map[string]string{
		`{"name":"mcp__time__now","timezone":"UTC"}`: `unknown field "timezone"`,
		`{"arguments":{}}`:                           "missing name",
		`{"name":"x","arguments":[1]}`:               "arguments must be an object",
		`{"name":"x","arguments":"{"}`:               "arguments must be an object",
		`{"name":"x","arguments":{}`:                 "not valid JSON",
		`{"name":"x","name":"y","arguments":{}}`:     "given twice",
		`{"name":"call_tool","arguments":{}}`:        "name must be another tool's",
		``:                                           "not valid JSON",
	} {
		call := item.ToolCall{Name: "call_tool", Arguments: written}
		if got := r.Real(call); got != call {
			t.Errorf("%s becomes %+v", written, got)
		}
		c, _ := r.Lookup("call_tool")
		_, err := c.Check(written)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `write {"name": "the exact name", "arguments": {...}}, with the arguments that find_tool shows`) {
			t.Errorf("%s: %v, want %s", written, err, want)
		}
	}
	plain := item.ToolCall{Name: "own", Arguments: "{"}
	if got := r.Real(plain); got != plain {
		t.Errorf("%+v", got)
	}
}

// A program may have a tool of this name itself.
func TestOwnCallTool(t *testing.T) {
	r, err := tool.NewRegistry(other(t, "call_tool", "Calls.", noArguments))
	if err != nil {
		t.Fatal(err)
	}
	call := item.ToolCall{Name: "call_tool", Arguments: `{"name":"x","arguments":{}}`}
	if got := r.Real(call); got != call {
		t.Errorf("%+v", got)
	}
}

// Wrong arguments are refused with the schema; a schema that podd cannot read is the tool's.
func TestSearchedToolsCheckArguments(t *testing.T) {
	r := searched(t, append(github(t), other(t, "mcp__odd__ref", "Odd.", `{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}`),
		// A check would not end.
		other(t, "mcp__odd__loop", "Odd.", `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"anyOf":[{"$ref":"#/$defs/b"}]}}}`))...)
	write, _ := r.Lookup("mcp__github__issue_write")
	for arguments, want := range map[string]string{
		`{}`:                           "title",
		`{"title":1}`:                  "string",
		`{"title":"a","lables":["x"]}`: "lables",
		`{"title":"a","labels":"x"}`:   "array",
		`[]`:                           "must be an object",
	} {
		_, err := write.Check(arguments)
		if err == nil || !strings.Contains(err.Error(), want) || arguments != "[]" && !strings.Contains(err.Error(), `; its arguments are {"additionalProperties":false,"properties":{"labels"`) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	if got, err := write.Check(`{"title": "a", "labels": ["x"]}`); err != nil || got != `{"labels":["x"],"title":"a"}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, name := range []string{"mcp__odd__ref", "mcp__odd__loop"} {
		odd, _ := r.Lookup(name)
		if _, err := odd.Check(`{"a":1}`); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	r := searched(t, github(t)...)
	for name, want := range map[string]string{
		"mcp__github__issue_wirte": `there is no tool "mcp__github__issue_wirte"; did you mean mcp__github__issue_write, `,
		"github.create_branch":     "did you mean mcp__github__create_branch",
		"teleport":                 "use one of those listed, or find one with find_tool",
		strings.Repeat("x", 5000):  "use one of those listed, or find one with find_tool",
	} {
		if got := r.Unknown(name); !strings.Contains(got, want) || len(got) > 400 {
			t.Errorf("%q, want %q", got, want)
		}
	}
	plain, err := tool.NewRegistry(github(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if got := plain.Unknown("x"); got != `there is no tool "x"; use one of those listed` {
		t.Error(got)
	}
}

// A real call goes back as valid JSON and is the same call again.
func FuzzReal(f *testing.F) {
	for _, seed := range []string{`{"name":"a","arguments":{}}`, `{"name":"\u00e9\n","arguments":"{}"}`, `{"name":1}`, `{"arguments":{"a":"b"}}`, "\xff", `{"name":"a","arguments":" {} "}`} {
		f.Add(seed)
	}
	r, err := tool.NewRegistry()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, written string) {
		got := r.Real(item.ToolCall{Name: tool.CallTool, Arguments: written})
		if got.Via == "" {
			return
		}
		name, arguments := got.Sent()
		if !json.Valid([]byte(arguments)) {
			t.Fatalf("%q goes back as %q", written, arguments)
		}
		if again := r.Real(item.ToolCall{Name: name, Arguments: arguments}); again != got {
			t.Errorf("%q: %+v, then %+v", written, got, again)
		}
	})
}
