package claude

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Scripts for Claude Code read these names and fields.
func TestCalls(t *testing.T) {
	tests := []struct{ tool, arguments, want string }{
		{"shell", `{"command": "ls", "timeout_seconds": 5, "background": true}`, `Bash {"command":"ls","run_in_background":true,"timeout":5000}`},
		{"read_file", `{"path": "a/../b", "start_line": 3, "end_line": 7}`, `Read {"file_path":"/w/b","limit":5,"offset":3}`},
		{"read_file", `{"path": "/etc/x", "end_line": 2}`, `Read {"file_path":"/etc/x","limit":2}`},
		{"write_file", `{"path": "b", "content": "x"}`, `Write {"content":"x","file_path":"/w/b"}`},
		{"edit_file", `{"path": "b", "old": "x", "new": "y", "all": true}`, `Edit {"file_path":"/w/b","new_string":"y","old_string":"x","replace_all":true}`},
		{"glob", `{"pattern": "*.go"}`, `Glob {"pattern":"*.go"}`},
		{"search", `{"pattern": "x", "path": "d", "ignore_case": true}`, `Grep {"-i":true,"output_mode":"content","path":"/w/d","pattern":"x"}`},
		{"list_dir", `{}`, `LS {}`},
		{"web_fetch", `{"url": "https://a.example"}`, `WebFetch {"prompt":"","url":"https://a.example"}`},
		{"todo", `{"items": [{"text": "x", "status": "done"}]}`, `TodoWrite {"todos":[{"activeForm":"x","content":"x","status":"completed"}]}`},
		{"spawn_pod", `{"task": "x", "name": "n"}`, `Task {"description":"n","prompt":"x","subagent_type":"general-purpose"}`},
		{"mcp__pay__charge", `{"amount": 1}`, `mcp__pay__charge {"amount":1}`},
		{"shell", `[`, `Bash {}`},
		{
			"apply_patch", `{"input": "*** Begin Patch\n*** Update File: a\n*** Move to: c\n@@\n x\n-y\n+z\n*** Delete File: d\n*** Add File: e\n+1\n+2\n*** End Patch"}`,
			`Edit {"file_path":"/w/a","new_string":"","old_string":""}` + `Write {"content":"x\nz","file_path":"/w/c"}` +
				`Edit {"file_path":"/w/d","new_string":"","old_string":""}` + `Write {"content":"1\n2","file_path":"/w/e"}`,
		},
	}
	for _, tt := range tests {
		got := ""
		for _, c := range callsOf(tt.tool, tt.arguments, "/w") {
			input, _ := json.Marshal(c.input)
			got += c.names[0] + " " + string(input)
			if last := c.names[len(c.names)-1]; last != tt.tool {
				t.Errorf("%s cannot be matched by its own name: %v", tt.tool, c.names)
			}
		}
		if got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.tool, tt.arguments, got, tt.want)
		}
	}
}

// A hook's change becomes podd's arguments; what it leaves as it was keeps podd's own form.
func TestRewritten(t *testing.T) {
	tests := []struct{ tool, arguments, updated, want string }{
		{"shell", `{"command": "ls", "timeout_seconds": 5}`, `{"command": "rtk ls", "timeout": 5000, "description": "x"}`, `{"command":"rtk ls","timeout_seconds":5,"why":"x"}`},
		{"shell", `{"command": "ls"}`, `{"command": "ls", "timeout": 1500, "unknown": 1}`, `{"command":"ls","timeout_seconds":2}`},
		{"write_file", `{"path": "b", "content": "x"}`, `{"file_path": "/w/b", "content": "y"}`, `{"content":"y","path":"b"}`},
		{"write_file", `{"path": "b", "content": "x"}`, `{"file_path": "/w/b", "content": "x"}`, ``},
		{"mcp__a__b", `{"x": 1}`, `{"y": 2}`, `{"y":2}`},
		{"apply_patch", `{"input": "*** Add File: a\n+x"}`, `{"file_path": "/w/b"}`, ``},
	}
	for _, tt := range tests {
		if got, _ := callsOf(tt.tool, tt.arguments, "/w")[0].rewritten(tt.arguments, object(tt.updated)); got != tt.want {
			t.Errorf("%s %s with %s: got %s, want %s", tt.tool, tt.arguments, tt.updated, got, tt.want)
		}
	}
}

func TestMatchers(t *testing.T) {
	tests := []struct {
		matcher   string
		fits, not string
	}{
		{"", "Bash", ""}, {"*", "mcp__a__b", ""}, {"Bash", "Bash", "BashOutput"}, {"bash", "", "Bash"},
		{"Edit|Write", "Write", "NotebookEdit"}, {"Edit, Write", "Write", "Read"}, {"mcp__memory__.*", "mcp__memory__add", "mcp__memo"},
		{"Notebook.*", "NotebookEdit", "Edit"}, {"^mcp__.*__write", "mcp__fs__write_file", "mcp__fs__read"},
	}
	for _, tt := range tests {
		m, err := newMatcher(tt.matcher)
		if err != nil || tt.fits != "" && !m.fits([]string{"other", tt.fits}) || tt.not != "" && m.fits([]string{tt.not}) {
			t.Errorf("%q: %v; it must fit %q and not %q", tt.matcher, err, tt.fits, tt.not)
		}
	}
	rules := []struct {
		rule, command string
		want          bool
	}{
		{"Bash", "ls", true}, {"Bash(git *)", "git status", true}, {"Bash(git *)", "git", true}, {"Bash(git:*)", "cd x && A=1 git push", true},
		{"Bash(git *)", "github", false}, {"Edit(*.go)", "ls", false}, {"Bash(*)", "ls", true},
	}
	for _, tt := range rules {
		if got := permits(tt.rule, callsOf("shell", `{"command": "`+tt.command+`"}`, "/w")[0]); got != tt.want {
			t.Errorf("%s for %q: %v", tt.rule, tt.command, got)
		}
	}
	for rule, want := range map[string]bool{"Edit(*.go)": true, "Edit(src/*)": true, "Edit(/w/src/a.go)": true, "Edit(docs/**)": false, "Write(*.go)": false} {
		if got := permits(rule, callsOf("edit_file", `{"path": "src/a.go"}`, "/w")[0]); got != want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"not JSON", "{\n\"hooks\": }", "s:2: is not valid"},
		{"hooks are a list", `{"hooks": [1]}`, "s:1: is not valid"},
		{"groups are not", "{\"hooks\": {\n\"Stop\": 7}}", "s:2: the hooks of Stop are not a list"},
		{"unknown event", "{\"hooks\": {\n\n\"preToolUse\": []}}", "s:3: podd has no event preToolUse, so its hooks do not run; the events are PreToolUse,"},
		{"no command", `{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}`, "s:1: a hook of Stop has no command"},
		{"wrong type", `{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}}`, "hooks of type command, not http"},
		{"wrong field", `{"hooks": {"Stop": [{"hooks": [{"command": 5}]}]}}`, "a hook of Stop is not valid"},
		{"another shell", `{"hooks": {"Stop": [{"hooks": [{"command": "x", "shell": "powershell"}]}]}}`, "podd has no shell powershell"},
	}
	for _, tt := range tests {
		hooks, refused := Parse("s", []byte(tt.text), Plugin{})
		if len(hooks) != 0 || len(refused) != 1 || !strings.Contains(refused[0], tt.want) {
			t.Errorf("%s: %d hooks, %q, want %q", tt.name, len(hooks), refused, tt.want)
		}
	}
	text := `{"hooks": {"Stop": [{"hooks": [{"command": "\"${CLAUDE_PROJECT_DIR}\"/a/b.sh x"}, {"command": "node c.js --to ../out; cat $CLAUDE_PROJECT_DIR/d"}]}]}}`
	hooks, refused := Parse("s", []byte(text), Plugin{})
	if got := Named(hooks); len(refused) > 0 || !reflect.DeepEqual(without(got), []string{"a/b.sh", "x", "node", "c.js", "--to", "cat", "d"}) {
		t.Errorf("named %q, refused %q", got, refused)
	}
	if hooks, refused := Parse("s", []byte(`{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`), Plugin{}); len(hooks)+len(refused) > 0 {
		t.Errorf("disabled hooks: %v, %v", hooks, refused)
	}
}

// without are the words without those of the shell.
func without(words []string) (left []string) {
	for _, w := range words {
		if w != "-c" {
			left = append(left, w)
		}
	}
	return left
}

// The strongest answer wins, and its reason is the one that is told.
func TestVerdicts(t *testing.T) {
	deny := said{Reason: "r"}
	deny.Specific.Decision, deny.Specific.Reason = "deny", "no"
	ask := said{}
	ask.Specific.Decision = "ask"
	halt := said{Continue: new(bool), StopReason: "enough"}
	for _, order := range [][]said{{ask, deny, halt}, {halt, deny, ask}} {
		var v verdict
		for _, s := range order {
			v.take(Hook{shown: "h"}, s)
		}
		if !v.stopped || !v.blocked || !v.asks || v.reason != "enough" {
			t.Errorf("got %+v", v)
		}
	}
	var v verdict
	v.take(Hook{shown: "h"}, deny)
	v.take(Hook{shown: "h"}, said{Decision: "block"})
	if v.reason != "no\nh gave no reason" {
		t.Errorf("reason %q", v.reason)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"hooks": {"Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "x", "timeout": 1}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		hooks, _ := Parse("s", []byte(text), Plugin{})
		Named(hooks)
		for _, h := range hooks {
			if h.timeout <= 0 || h.argv[0] == "" {
				t.Errorf("%+v", h)
			}
		}
	})
}

// Claude Code's names of tools are podd's, with patterns for commands; what podd has not in part is named.
func TestTools(t *testing.T) {
	got := fmt.Sprintf("%+v", Tools([]string{"Read", "Edit", "Bash(git diff:*)", "bash(ls -l *)", "Read(src/**)", "Agent(a:b, c)", "KillShell", "WebSearch", "mcp__db__query", "job", "Skill"}))
	if want := "{Tools:[read_file edit_file apply_patch shell shell spawn_pod job mcp__db__query job skill] Commands:[git diff * ls -l *] Limited:[read_file] Unknown:[WebSearch]}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := Tools([]string{"Bash(git:*)", "Bash"}); n.Commands != nil {
		t.Errorf("%+v", n)
	}
	for name, want := range map[string]bool{
		"mcp__db__query": true, "mcp__db__x": true, "mcp__dbx__query": false, "mcp__all__x": true, "glob": true, "globs": false,
		"mcp__hub__delete_repo": true, "mcp__hub__get": false, "mcp__a__drop": true, "mcp__a__get": false, "web_fetch": true,
	} {
		if got := HasTool([]string{"mcp__db", "mcp__all__*", "glob", "mcp__hub__delete_*", "mcp__*__drop", "web_*"}, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
