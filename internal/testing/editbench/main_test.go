package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder writes recordings to their paths.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func wantRows(t *testing.T, args []string, rows ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, row := range rows {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no %q in\n%s", row, out.String())
		}
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// Each agent has its own form of a call, of its result and of a file that it read.
func TestRecordedCallsOfAllForms(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: /w/a.go\n@@\n-b\n+c\n*** End Patch"
	dir := folder(t, map[string]string{
		// Blocks of calls and results; the second edit differs in indentation.
		"pi/s.jsonl": `{"message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"read","arguments":{"path":"a"}}]}}
{"message":{"role":"toolResult","toolCallId":"1","content":[{"type":"text","text":"f:\n  one\n  two\n"}]}}
{"message":{"content":[{"type":"toolCall","id":"2","name":"edit","arguments":{"path":"a","oldText":"  one","newText":"  1"}}]}}
{"message":{"role":"toolResult","toolCallId":"2","content":[{"type":"text","text":"Replaced"}]}}
{"message":{"content":[{"type":"toolCall","id":"3","name":"edit","arguments":{"path":"a","oldText":"    two\n","newText":"    2\n"}}]}}
{"message":{"role":"toolResult","toolCallId":"3","isError":true,"content":[{"type":"text","text":"Could not find the text"}]}}
{"message":{"content":[{"type":"toolCall","id":"4","name":"edit","arguments":{"path":"a","oldText":"  two\n","newText":"  2\n"}}]}}
{"message":{"role":"toolResult","toolCallId":"4","content":[{"type":"text","text":"Replaced"}]}}
`,
		// Calls as text, and a file as numbered lines with gaps.
		"openhands/t.json": `[{"messages":[
{"role":"assistant","content":"<function=str_replace_editor>\n<parameter=command>view</parameter>\n<parameter=path>/w/a</parameter>\n</function>"},
{"role":"user","content":"cat -n:\n     3\tx = 1\n     4\ty = 2\n"},
{"role":"assistant","content":"<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n<parameter=path>/w/a</parameter>\n<parameter=old_str>\nx = 1\n</parameter>\n<parameter=new_str>\nx = 3\n</parameter>\n</function>"},
{"role":"user","content":"The file has been edited"}]}]`,
		// A command line with doubled escapes, which its tool refused.
		"swe-agent/t.traj": `{"trajectory":[
{"action":"str_replace_editor view /w/a","observation":"cat -n:\n     1\ta\n     2\tb\n"},
{"action":"str_replace_editor str_replace /w/a --old_str \"a\\\\nb\" --new_str 'c'","observation":"No replacement was performed"}]}`,
		// A patch.
		"codex/r.jsonl": `{"payload":{"type":"function_call","call_id":"1","name":"read_file","arguments":"{\"path\":\"/w/a.go\"}"}}
{"payload":{"type":"function_call_output","call_id":"1","output":"1\ta\n2\tb\n"}}
{"payload":{"type":"custom_tool_call","call_id":"2","name":"apply_patch","input":` + quoted(patch) + `}}
{"payload":{"type":"custom_tool_call_output","call_id":"2","output":"Success"}}
`,
	})
	wantRows(t, []string{"-v", dir},
		"| pi, edit_file | 3 | 2 | 3 | 0 | 0 | 0 | 0 |",
		"| openhands, edit_file | 1 | 1 | 1 | 0 | 0 | 0 | 0 |",
		"| swe-agent, edit_file | 1 | 0 | 0 | 1 | 0 | 0 | 0 |",
		"| codex, apply_patch | 1 | 1 | 0 | 1 | 0 | 0 | 0 |",
		"| all | 6 | 4 | 4 | 2 | 0 | 0 | 0 |",
	)
}

// The chats of aider name commits, which have the files.
func TestChatsOfAider(t *testing.T) {
	repo := folder(t, map[string]string{"a.py": "def f():\n    x = 1\n"})
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.abbrev=7"}, args...)...).Output()
		if err != nil {
			t.Skip("git is needed:", err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	if err := os.WriteFile(filepath.Join(repo, "a.py"), []byte("def f():\n    x = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("commit", "-qam", "second")
	block := func(old, changed string) string {
		return "a.py\n```python\n<<<<<<< SEARCH\n" + old + "=======\n" + changed + ">>>>>>> REPLACE\n```\n\n> Tokens: 1 sent\n"
	}
	chat := "#### change it\n\n" + block("    y = 1\n", "    y = 2\n") +
		"> ## SearchReplaceNoExactMatch: This SEARCH block failed\n> <<<<<<< SEARCH\n>     y = 1\n> >>>>>>> REPLACE\n\n" +
		block("x = 1\n", "x = 2\n") + "> Applied edit to a.py\n> Commit " + git("rev-parse", "--short=7", "HEAD") + " second\n"
	dir := folder(t, map[string]string{"aider/chat.md": chat})
	wantRows(t, []string{"-repo", repo, dir}, "| aider, edit_file | 2 | 1 | 1 | 0 | 0 | 1 | 0 |", "| edit_file: old is not in …", "| 1 |")
}

func TestBadArgumentsAndRecordings(t *testing.T) {
	for want, args := range map[string][]string{
		"usage: editbench":          {},
		"no such file or directory": {filepath.Join(t.TempDir(), "none")},
		"invalid character":         {folder(t, map[string]string{"a/b.json": "{,"})},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("exit code %d, %q, want %q", code, errs.String(), want)
		}
	}
}
