package attach

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/clients/desk"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// settled runs what goroutines hand the view until its command has ended.
func (a *app) settled() {
	for a.shell != nil {
		(<-a.do)()
	}
}

// here is a view of a pod in a directory.
func here(t *testing.T, dir string) *app {
	t.Helper()
	env := func(name string) string {
		if name == "SHELL" {
			return "/bin/sh"
		}
		return noEnv(name)
	}
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: env}, &poddv1.Pod{Name: "p", Spec: &poddv1.PodSpec{Dir: dir}})
	a.ready, a.said = true, ""
	t.Cleanup(a.work.Wait)
	return a
}

func (a *app) enters(text string) {
	for _, r := range text {
		a.press(key{keyText, string(r)})
	}
	a.press(key{kind: keyEnter})
}

// A command runs in the pod's directory. What it writes becomes a piece of the draft, and
// podd gets nothing: the view has no client.
func TestShell(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := here(t, dir)
	a.enters("!cat a.txt missing; exit 3")
	a.settled()
	got := a.prompt.draft.segments()
	paste, ok := got[0].(item.PasteSegment)
	if len(got) != 1 || !ok || paste.Name != "$ cat a.txt missing; exit 3" || !strings.HasPrefix(paste.Text, "one\n") ||
		!strings.Contains(paste.Text, "missing") || !strings.Contains(paste.Text, "\n[exit 3, ") {
		t.Errorf("the draft is %+v", got)
	}
	if all := strings.Join(shown(a.log, 80), "\n"); !strings.Contains(all, "$ cat a.txt missing; exit 3  (exit 3, ") || !strings.Contains(all, "  | one") {
		t.Errorf("it shows\n%s", all)
	}
	if row := a.prompt.draft.cells[0].shown(); row != "[$ cat a.txt missing; exit 3: 3 lines]" {
		t.Errorf("the piece is %q", row)
	}
	a.prompt.draft.clear()
	a.enters("!!printf '\\033[2J'; seq 30")
	a.settled()
	all := strings.Join(shown(a.log, 80), "\n")
	if !a.prompt.draft.empty() || strings.ContainsRune(all, 0x1b) || !strings.Contains(all, "+10 above, ^T shows all\n  | 11\n") {
		t.Errorf("with the draft %q it shows\n%s", a.prompt.draft.whole(), all)
	}
}

// Esc ends a command and all that it started, and not the turn.
func TestShellEndsByEsc(t *testing.T) {
	a := here(t, t.TempDir())
	a.turn = 3
	a.enters("!echo begun; sleep 1000 & wait")
	for !strings.Contains(a.shell.output, "begun") {
		(<-a.do)()
	}
	a.enters("!true")
	if a.said != "a command still runs; Esc ends it" {
		t.Errorf("a second one: %q", a.said)
	}
	a.prompt.draft.clear()
	a.press(key{kind: keyEscape})
	a.settled()
	if text := a.prompt.draft.whole(); !strings.HasPrefix(text, "begun\n[ended by Esc, ") {
		t.Errorf("the piece is %q", text)
	}
}

func TestWhatIsNoShellCommand(t *testing.T) {
	a := here(t, filepath.Join(t.TempDir(), "gone"))
	a.enters("!")
	if a.said != "give a command after !; a blank before it makes it text" {
		t.Errorf("none: %q", a.said)
	}
	a.prompt.draft.insert("!")
	a.press(key{keyPaste, "a\nb\n"})
	a.press(key{kind: keyEnter})
	if a.said != "a command takes no folded paste: paste its lines one by one, or run a file" || a.shell != nil {
		t.Errorf("a folded paste: %q", a.said)
	}
	for _, text := range []string{" !ls", "/!ls"} {
		if _, _, ok := written(text).shell(); ok {
			t.Errorf("%q is a command", text)
		}
	}
	var pasted editor
	pasted.pasted("!ls")
	if _, _, ok := pasted.shell(); ok {
		t.Error("what is pasted is a command")
	}
	a.prompt.draft.clear()
	a.enters("!true")
	a.settled()
	if text := a.prompt.draft.whole(); !strings.Contains(text, "[cannot run it: ") || !strings.Contains(text, "no such file or directory") {
		t.Errorf("without the directory: %q", text)
	}
}

// The begin and the end of long output stay.
func TestExcerpt(t *testing.T) {
	told := 0
	var e excerpt
	e.changed = func() { told++ }
	for range 3 {
		_, _ = e.Write([]byte(strings.Repeat("x", mostShellBytes/2)))
	}
	_, _ = e.Write([]byte("end"))
	text := e.text()
	if want := "x\n[32,771 bytes left out]\nx"; !strings.Contains(text, want) || !strings.HasSuffix(text, "xend") || told != 1 {
		t.Errorf("%d bytes, told %d times", len(text), told)
	}
}

func TestExportAs(t *testing.T) {
	for args, want := range map[string]string{
		"": " md", "a.html": "a.html html", "html": " html", "a.html json": "a.html json", `"my file.md"`: "my file.md md", "~/x": "/h/x md",
	} {
		if file, format, err := exportAs(args, "/h"); err != nil || file+" "+format != want {
			t.Errorf("%q: %q %q, %v; want %q", args, file, format, err, want)
		}
	}
	for args, want := range map[string]string{"a b": "quote a name with blanks", `"a`: "open"} {
		if _, _, err := exportAs(args, "/h"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// A diff shows under its call, folded when it is long.
func TestDiffOfACall(t *testing.T) {
	tr := newBlockList()
	diffs := item.Diffs{{Path: "a.go", Diff: "@@ -0,0 +1,13 @@\n" + strings.Repeat("+x\n", 13)}}
	tr.see(item.ToolCall{CallID: "c", Name: "edit_file", Arguments: `{}`},
		item.ToolResult{CallID: "c", Tool: "edit_file", Output: item.Output{Summary: "a.go: +13 -0", Diffs: &diffs}})
	got := shown(tr, 80)
	if len(got) != 11 || got[1] != "    a.go" || got[2] != "    1 +x" || got[10] != "      +5 more, ^T shows all" {
		t.Errorf("it shows %q", got)
	}
	tr.open = true
	if got := shown(tr, 80); len(got) != 15 || got[14] != "    13 +x" {
		t.Errorf("in full it shows %q", got)
	}
}
