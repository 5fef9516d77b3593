package builtin_test

import (
	"os"
	"strings"
	"testing"

	"podd/pkg/scopefs"
	"podd/pkg/tool/tooltest"
)

// The tools that change files do not change what other programs run, say why, and do it
// once a person has approved the call.
func TestToolsLeaveProtectedFilesAlone(t *testing.T) {
	b := newBench(t, map[string]string{".git/config": "[core]\n", "a": "a\n", ".envrc": "x\n"})
	calls := map[string]string{
		"write_file":  object("path", ".git/hooks/pre-commit", "content", "#!/bin/sh\n"),
		"edit_file":   object("path", ".git/config", "old", "[core]", "new", "[core]\n\tfsmonitor = ./x"),
		"apply_patch": object("input", "*** Begin Patch\n*** Update File: a\n*** Move to: sub/.vscode/tasks.json\n@@\n-a\n+b\n*** End Patch"),
	}
	for name, arguments := range calls {
		out := b.call(name, arguments)
		if text := out.Summary + out.Content; !out.IsError || !strings.Contains(text, "needs a person's approval") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if b.read(".git/config") != "[core]\n" || b.read("a") != "a\n" {
		t.Error("something was changed")
	}
	for name, arguments := range calls {
		if out := tooltest.Call(scopefs.Approved(t.Context()), t, b.tool(name), arguments); out.IsError {
			t.Errorf("%s, approved: %s", name, out.Summary+out.Content)
		}
	}
	if b.read("sub/.vscode/tasks.json") != "b\n" || b.read(".git/hooks/pre-commit") != "#!/bin/sh\n" {
		t.Error("the approved changes are not there")
	}
}

// A write to a file with other names says that they keep the old content.
func TestToolsReportHardLinks(t *testing.T) {
	b := newBench(t, nil)
	calls := map[string]string{
		"write_file":  object("path", "f", "content", "new\n"),
		"edit_file":   object("path", "f", "old", "old", "new", "new"),
		"apply_patch": object("input", "*** Begin Patch\n*** Update File: f\n@@\n-old\n+new\n*** End Patch"),
	}
	for name, arguments := range calls {
		_ = os.Remove(b.path("twin"))
		b.write("f", "old\n")
		if err := os.Link(b.path("f"), b.path("twin")); err != nil {
			t.Fatal(err)
		}
		b.call("read_file", object("path", "f"))
		out := b.call(name, arguments)
		if out.IsError || !strings.Contains(out.Summary, "1 other name of the file (hard links) kept the old content") {
			t.Errorf("%s: %s", name, out.Summary)
		}
		if b.read("twin") != "old\n" || b.read("f") != "new\n" {
			t.Errorf("%s: the other name has %q", name, b.read("twin"))
		}
	}
}

// A model that saw "[redacted]" does not write that over the secret.
func TestToolsKeepSecrets(t *testing.T) {
	b := newBench(t, map[string]string{"f": "key = real\nport = 1\n"})
	b.call("read_file", object("path", "f"))
	for name, arguments := range map[string]string{
		"write_file":  object("path", "f", "content", "key = [redacted]\nport = 2\n"),
		"edit_file":   object("path", "f", "old", "key = real\nport = 1", "new", "key = [redacted]\nport = 2"),
		"apply_patch": object("input", "*** Begin Patch\n*** Update File: f\n@@\n-key = real\n+key = [redacted]\n*** End Patch"),
	} {
		if out := b.call(name, arguments); !out.IsError || !strings.Contains(out.Summary+out.Content, "secret that you were not shown") {
			t.Errorf("%s: %s", name, out.Summary)
		}
	}
	if out := b.call("edit_file", object("path", "f", "old", "port = 1", "new", "port = 2")); out.IsError || b.read("f") != "key = real\nport = 2\n" {
		t.Errorf("another line: %s", out.Summary)
	}
	if out := b.call("write_file", object("path", "new", "content", "say [redacted]\n")); out.IsError {
		t.Errorf("a new file: %s", out.Summary)
	}
}
