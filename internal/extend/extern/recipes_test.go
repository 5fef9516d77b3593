package extern_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/extend/extern"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// recipe is one of examples/*.sh.
func recipe(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// recipe is a chain of one interceptor that runs an example.
func (b *bench) recipe(t *testing.T, name string, on string) interceptor.Chain {
	t.Helper()
	i, err := b.Interceptor(extern.Command{Name: "x", On: []string{on}, Argv: []string{"sh", recipe(t, name)}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return interceptor.Chain{i}
}

// write writes a file of the workspace.
func (b *bench) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("this recipe needs %s", program)
	}
}

// The recipes are short, and the documentation names each and shows one verbatim.
func TestRecipesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "extensions.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipes, err := filepath.Glob(recipe(t, "*.sh"))
	if err != nil || len(recipes) != 6 {
		t.Fatalf("there are recipes %q, %v", recipes, err)
	}
	for _, path := range recipes {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		if !strings.Contains(string(page), "(../examples/"+name+")") {
			t.Errorf("docs/extensions.md does not name %s", name)
		}
		if name == "run-tests.sh" && !strings.Contains(string(page), "```sh\n"+string(text)+"```\n") {
			t.Errorf("docs/extensions.md does not show %s as it is", name)
		}
		if n := strings.Count(string(text), "\n"); n > 10 {
			t.Errorf("%s has %d lines: a recipe has ten", name, n)
		}
	}
}

func TestRunTestsRecipe(t *testing.T) {
	needs(t, "make")
	b := newBench(t)
	chain := b.recipe(t, "run-tests.sh", "turn_end")
	for makefile, want := range map[string]string{
		"":                                 "",
		"test:\n\t@true\n":                 "",
		"test:\n\t@echo want 42; exit 1\n": "The tests fail. Fix the cause, not the test.\nwant 42\n",
	} {
		_ = os.Remove(filepath.Join(b.dir, "Makefile"))
		if makefile != "" {
			b.write(t, "Makefile", makefile)
		}
		d, err := chain.TurnEnd(t.Context(), aTurn)
		if err != nil || len(d.Warnings) > 0 || (len(d.Items) == 1) != (want != "") {
			t.Fatalf("%q: %+v, %v", makefile, d, err)
		}
		if want != "" {
			wantIn(t, textOf(t, d.Items[0]), want)
		}
	}
}

func TestBlockWritesRecipe(t *testing.T) {
	needs(t, "jq")
	chain := newBench(t).recipe(t, "block-writes.sh", "before_tool")
	for arguments, denied := range map[string]bool{
		`write_file {"path":"deploy/prod.yaml","content":"x"}`:                 true,
		`edit_file {"path":"./deploy/prod.yaml"}`:                              true,
		`apply_patch {"patch":"*** Begin Patch\n*** Delete File: deploy/a\n"}`: true,
		`shell {"command":"rm -r deploy/"}`:                                    true,
		`write_file {"path":"src/main.go","content":"x"}`:                      false,
		`read_file {"path":"deploy/prod.yaml"}`:                                false,
	} {
		call := aCall
		call.Tool, call.Arguments, _ = strings.Cut(arguments, " ")
		d, err := chain.BeforeTool(t.Context(), call, same)
		if err != nil || (d.Denied != "") != denied || len(d.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", arguments, d, err)
		}
		if denied {
			wantIn(t, d.Denied, "denied by x: deploy/ is changed by people alone")
		}
	}
}

func TestTestChangesRecipe(t *testing.T) {
	needs(t, "jq")
	i, err := newBench(t).Interceptor(extern.Command{
		Name: "x", On: []string{"turn_end"}, Argv: []string{"sh", recipe(t, "test-changes.sh")}, History: extern.HistoryTurn,
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	result := func(kind item.OutputKind, path, summary string, isError bool) item.Item {
		return item.ToolResult{Output: item.Output{Kind: kind, Path: path, Summary: summary, IsError: isError}}
	}
	edit, test := result(item.OutputEdit, "a.go", "edit_file: a.go", false), result(item.OutputShell, "", "shell: go test ./..., exit 0", false)
	patch := result(item.OutputEdit, "", "apply_patch: 2 files changed", false)
	for want, items := range map[string][]item.Item{
		"":       {},
		"tested": {edit, patch, test},
		"failed": {result(item.OutputEdit, "a.go", "edit_file: old is not in a.go", true), result(item.OutputShell, "", "shell: ls, exit 0", false)},
		"You changed a.go, apply_patch: 2 files changed and ran no test since then. Run the tests.": {
			result(item.OutputEdit, "b.go", "edit_file: b.go", false), test, patch, edit, edit,
		},
	} {
		end := aTurn
		// The first half of a conversation is from the previous turn.
		end.Conversation = spoken(nil, append(make([]item.Item, len(items)), items...)...)
		d, err := interceptor.Chain{i}.TurnEnd(t.Context(), end)
		if err != nil || len(d.Warnings) > 0 || (len(d.Items) == 1) != strings.Contains(want, "changed") {
			t.Fatalf("%q: %+v, %v", want, d, err)
		}
		if len(d.Items) == 1 {
			wantIn(t, textOf(t, d.Items[0]), want)
		}
	}
}

func TestGitStatusRecipe(t *testing.T) {
	needs(t, "jq")
	needs(t, "git")
	b := newBench(t)
	chain := b.recipe(t, "git-status.sh", "prompt_submit")
	d, err := chain.PromptSubmit(t.Context(), aSubmit)
	if err != nil || len(d.Items) > 0 || len(d.Warnings) > 0 {
		t.Fatalf("outside of a repository: %+v, %v", d, err)
	}
	if out, err := exec.Command("git", "-C", b.dir, "init", "-q", "-b", "trunk").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.write(t, "new.txt", "")
	d, err = chain.PromptSubmit(t.Context(), aSubmit)
	if err != nil || len(d.Items) != 1 || len(d.Warnings) > 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	wantIn(t, textOf(t, d.Items[0]), "git status --short --branch:\n## ", "trunk\n?? new.txt\n")
}

// Plain git status runs everything that a repository's configuration, and that of a
// submodule, names; the recipe runs none of it.
func TestGitStatusRecipeRunsNothing(t *testing.T) {
	needs(t, "jq")
	needs(t, "git")
	b := newBench(t)
	program := func(name string) string {
		b.write(t, name, "#!/bin/sh\ntouch '"+b.dir+"/ran-"+name+"'\ncat\n")
		path := filepath.Join(b.dir, name)
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{
			"-C", b.dir, "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "protocol.file.allow=always",
		}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "trunk")
	git("init", "-q", "sub")
	git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "x")
	b.write(t, "a", "a\n")
	b.write(t, "b", "b\n")
	b.write(t, ".git/info/exclude", "*\n")
	git("submodule", "--quiet", "add", "-f", "./sub")
	git("add", "-f", "a", "b")
	git("commit", "-q", "-m", "x")
	git("config", "filter.odd=one.clean", program("clean"))
	git("config", "filter.odd=one.required", "true")
	git("config", "filter.other.process", program("process"))
	git("config", "core.fsmonitor", program("monitor"))
	git("-C", "sub", "config", "core.fsmonitor", program("inner"))
	if err := os.Rename(program("hook"), filepath.Join(b.dir, ".git/hooks/post-index-change")); err != nil {
		t.Fatal(err)
	}
	b.write(t, ".git/info/attributes", "a filter=odd=one\nb filter=other\n")
	// Files whose times changed are read again.
	touch := func(at int64) {
		t.Helper()
		for _, name := range []string{"a", "b"} {
			if err := os.Chtimes(filepath.Join(b.dir, name), time.Time{}, time.Unix(at, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ran := func() []string {
		all, _ := filepath.Glob(filepath.Join(b.dir, "ran-*"))
		return all
	}
	touch(1e9)
	d, err := b.recipe(t, "git-status.sh", "prompt_submit").PromptSubmit(t.Context(), aSubmit)
	if err != nil || len(d.Items) != 1 || len(d.Warnings) > 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	wantIn(t, textOf(t, d.Items[0]), "## trunk\n")
	if all := ran(); len(all) > 0 {
		t.Errorf("the recipe ran %q", all)
	}
	touch(2e9)
	git("status")
	if all := ran(); len(all) != 5 {
		t.Errorf("plain git status ran %q alone", all)
	}
}

func TestNotifyRecipe(t *testing.T) {
	needs(t, "jq")
	b := newBench(t)
	b.write(t, "notify-send", "#!/bin/sh\nprintf '%s|' \"$@\" >>\"$HOME/sent\"\n")
	if err := os.Chmod(filepath.Join(b.dir, "notify-send"), 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := b.Hook(extern.Command{
		Name: "x", On: []string{"alert", "turn_ended"}, Argv: []string{"sh", recipe(t, "notify.sh")},
		Env: []string{"PATH=" + b.dir + ":" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Entry("p1", item.Entry{Seq: 1, Turn: 4, Kind: item.TurnEnded{Outcome: item.OutcomeFinished}})
	h.Alert(item.Alert{Seq: 1, Pod: "p1", Text: "quota's gone"})
	h.Alert(item.Alert{Seq: 2, Text: "of podd"})
	want := "--app-name|podd|demo|turn 4: finished|--app-name|podd|demo|quota's gone|--app-name|podd|podd|of podd|"
	if got := b.file(t, "sent"); got != want || len(b.alerts) > 0 {
		t.Errorf("sent %q, alerts %q", got, b.alerts)
	}
}

func TestLogRecipe(t *testing.T) {
	b := newBench(t)
	h, err := b.Hook(extern.Command{Name: "x", On: []string{"entry"}, Argv: []string{"sh", recipe(t, "log.sh")}})
	if err != nil {
		t.Fatal(err)
	}
	for seq := range item.Seq(3) {
		h.Entry("p1", item.Entry{Seq: seq + 1, Kind: item.Note{Text: "a"}})
	}
	if got := strings.Count(b.file(t, "podd-events.jsonl"), "\n"); got != 3 {
		t.Errorf("%d lines are logged", got)
	}
}
