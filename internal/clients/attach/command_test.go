package attach

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTemplates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"review.md": "---\ndescription: \"reviews a file\"\nargs: [file, focus]\n---\nReview $FILE for $2; all: $ARGUMENTS. $$1 $HOME\n",
		"Bad.md":    "upper case", "no.txt": "no", "binary.md": "\xff", "long.md": strings.Repeat("x", mostTemplate+1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	list := templates(dir)
	if len(list) != 1 || list[0].name != "review" || list[0].about != "reviews a file" || list[0].command().args != "FILE FOCUS" {
		t.Fatalf("%+v", list)
	}
	got, err := list[0].fill(*written(`'a b.go' speed`))
	if want := "Review a b.go for speed; all: 'a b.go' speed. $1 $HOME"; err != nil || got.whole() != want {
		t.Errorf("%q, %v, want %q", got.whole(), err, want)
	}
	for typed, want := range map[string]string{"": "needs file", "one": "needs argument 2", `"open`: "open \""} {
		if _, err := list[0].fill(*written(typed)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", typed, err, want)
		}
	}
}

// Prompts that a person wrote for other agents are there too, and those of the workspace.
func TestPromptsOfOtherAgents(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		home + "/.config/podd/prompts/review.md": "podd's", home + "/.claude/commands/review.md": "Claude's", home + "/.claude/commands/ship.md": "---\nargument-hint: [where]\n---\nShip it.",
		home + "/.codex/prompts/plan-it.md": "Plan.", work + "/.claude/commands/ship.md": "The workspace's", work + "/.claude/commands/lint.md": "Lint.", work + "/.agents/commands/bad.md": "Li\u202ent.",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Env: func(name string) string { return map[string]string{"HOME": home}[name] }}
	names := func() (list []string) {
		for _, p := range ownPrompts(cfg, work) {
			filled, err := p.fill(*written("to 'the moon'"))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p.name+": "+filled.whole())
		}
		return list
	}
	want := []string{"review: podd's\n\nto 'the moon'", "ship: Ship it.\n\nto 'the moon'", "plan-it: Plan.\n\nto 'the moon'", "lint: Lint.\n\nto 'the moon'"}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	cfg.Remote = true
	if got := names(); !slices.Equal(got, want[:3]) {
		t.Errorf("%q of another machine", got)
	}
}

// Whatever a prompt and its arguments are, an argument stays as it was typed.
func FuzzPrompt(f *testing.F) {
	f.Add("---\nargs: a\n---\n$A $1 $$ $ARGUMENTS", `x "y z" \q`)
	f.Add("---\n---\n", "'")
	f.Fuzz(func(t *testing.T, text, typed string) {
		tpl := parseTemplate("p", text)
		filled, err := tpl.fill(*written(typed))
		if err == nil && utf8.ValidString(text) && utf8.ValidString(typed) && !utf8.ValidString(filled.whole()) {
			t.Errorf("%q with %q gives %q", text, typed, filled.whole())
		}
		if got, err := (template{text: "<$ARGUMENTS>"}).fill(*written(typed)); err == nil && got.whole() != "<"+typed+">" {
			t.Errorf("%q became %q", typed, got.whole())
		}
	})
}

// Only a typed slash at the very beginning makes a command.
func TestWhatIsACommand(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(e *editor)
		want  string
	}{
		"typed":            {func(e *editor) { e.insert("/model  x y "); e.insert("") }, "model|x y"},
		"typed one by one": {func(e *editor) { e.insert("/"); e.insert("q") }, "q|"},
		"pasted":           {func(e *editor) { e.pasted("/quit") }, ""},
		"pasted, then typed": {func(e *editor) {
			e.pasted("/")
			e.insert("quit")
		}, ""},
		"after a blank": {func(e *editor) { e.insert(" /quit") }, ""},
		"with a paste":  {func(e *editor) { e.insert("/plan"); e.pasted("a\nb\n"); e.insert(" c ") }, "plan|a\nb\n c"},
		"nothing":       {func(*editor) {}, ""},
	} {
		var e editor
		tt.write(&e)
		got := ""
		if command, args, ok := e.command(); ok {
			got = command + "|" + args.whole()
		}
		if got != tt.want {
			t.Errorf("%s is %q, want %q", name, got, tt.want)
		}
	}
}

// A command has the name that other programs give it, too, and a mistyped one is named.
func TestNamesOfCommands(t *testing.T) {
	for typed, want := range map[string]string{
		"/exit": "", "/nonsense": "unknown command /nonsense; /help lists them, and a blank before the slash makes it text",
		"/modl x":  "unknown command /modl: did you mean /model?",
		"/sesions": "unknown command /sesions: did you mean /sessions?", "/vim": "there is no /vim: there are no vi keys; Ctrl-G opens the draft in $EDITOR",
		"/delete": "there is no /delete: podctl delete greeter, in your shell", "exit": "", "/permissions x": "give when calls ask: never, risky or always",
	} {
		a := scene(t)
		a.prompt.draft.insert(typed)
		if !a.obey() {
			t.Errorf("%s is no command", typed)
		}
		if a.said != want || a.quit != strings.HasSuffix(typed, "exit") {
			t.Errorf("%s: it says %q, want %q; quit: %v", typed, a.said, want, a.quit)
		}
	}
	names := func(name string) bool {
		return slices.ContainsFunc(builtins(), func(s slash) bool { return s.name == name })
	}
	for name, command := range elsewhere {
		if names(name) || instead[name] != "" || !names(command) && !strings.HasPrefix(command, "podctl ") {
			t.Errorf("/%s is /%s, which is no command, or has another meaning", name, command)
		}
	}
	for name := range instead {
		if names(name) {
			t.Errorf("/%s is a command", name)
		}
	}
	for word, command := range bare {
		if e := written(word + "x"); !names(command) || e.text() == "" {
			t.Errorf("%s is /%s, which is no command", word, command)
		} else if _, _, ok := e.command(); ok {
			t.Errorf("%sx is a command", word)
		}
	}
}

// What is refused leaves the draft, so that the next command is whole, and the history has it.
func TestRefusedLeavesTheDraft(t *testing.T) {
	for name, typed := range map[string]string{
		"an unknown one": "/nonsense", "a busy pod": "/undo", "a wrong argument": "/approve-mode sometimes", "no argument": "/plan",
		"another program's": "/vim", "a prompt of one's own": "/mine", "no shell command": "!",
	} {
		a := scene(t)
		a.own = []template{{name: "mine", text: "$1"}}
		a.turn = 3
		for range 2 {
			a.prompt.draft.insert(typed)
			a.press(key{kind: keyEnter})
			if !a.prompt.draft.empty() || a.said == "" {
				t.Errorf("%s: the draft is %q, and it says %q", name, a.prompt.draft.text(), a.said)
			}
		}
		if a.press(key{kind: keyPrevious}); a.prompt.draft.text() != typed {
			t.Errorf("%s: the history has %q", name, a.prompt.draft.text())
		}
	}
}

// A help that is longer than the screen says how to read its beginning.
func TestLongHelp(t *testing.T) {
	for rows, want := range map[int]string{24: "PgUp shows the beginning of the help", 60: ""} {
		a := scene(t)
		a.columns, a.rows = 80, rows
		a.prompt.draft.insert("/help")
		if a.obey(); a.said != want {
			t.Errorf("%d rows: it says %q, want %q", rows, a.said, want)
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	for _, text := range []string{"fix the test", "run it", "fix the docs"} {
		h.add(*written(text), text)
	}
	draft := *written("draft")
	for _, step := range []struct {
		by   int
		want string
	}{{1, "draft"}, {-1, "fix the docs"}, {-1, "run it"}, {-1, "fix the test"}, {-1, "fix the test"}, {1, "run it"}, {1, "fix the docs"}, {1, "draft"}} {
		if h.recall(step.by, &draft); draft.text() != step.want {
			t.Fatalf("by %d it is %q, want %q", step.by, draft.text(), step.want)
		}
	}
	for _, step := range []struct {
		key  key
		want string
	}{
		{key{kind: keySearch}, "draft"}, {key{keyText, "fix"}, "fix the docs"}, {key{kind: keySearch}, "fix the test"},
		{key{kind: keySearch}, "fix the test"}, {key{kind: keyEscape}, "draft"}, {key{kind: keySearch}, "draft"},
		{key{keyText, "RUN"}, "run it"}, {key{kind: keyEnter}, "run it"},
	} {
		if !h.searches(step.key, &draft) || draft.text() != step.want {
			t.Fatalf("%+v leaves %q, want %q", step.key, draft.text(), step.want)
		}
	}
	if h.searches(key{kind: keyEnter}, &draft) {
		t.Error("the search goes on")
	}
	for _, step := range []struct {
		key    key
		failed bool
	}{{key{kind: keySearch}, false}, {key{keyText, "docs"}, false}, {key{keyText, "!"}, true}, {key{kind: keyBackspace}, false}, {key{kind: keySearch}, true}} {
		if h.searches(step.key, &draft); h.search.failed != step.failed {
			t.Errorf("after %+v the search for %q failed: %v", step.key, h.search.query, h.search.failed)
		}
	}
	if e, ok := h.byRequest("run it"); !ok || e.text() != "run it" {
		t.Errorf("%q, %v", e.text(), ok)
	}
}

// Up and down move between the rows as they are drawn.
func TestVertical(t *testing.T) {
	e := written("one two three\nx\nlast")
	for _, step := range []struct {
		by int
		ok bool
		at int
	}{{-1, true, 15}, {-1, true, 9}, {-1, true, 1}, {-1, false, 1}, {1, true, 9}} {
		if ok := e.vertical(step.by, "> ", 11); ok != step.ok || e.at != step.at {
			rows, places := e.lay("> ", 11)
			t.Fatalf("by %d: %v at %d, want %v at %d\n%q\n%v", step.by, ok, e.at, step.ok, step.at, rows, places)
		}
	}
}

// Prompts that come back stand before the draft, pasted texts too.
func TestTakeBack(t *testing.T) {
	a := &app{log: newBlockList()}
	first := *written("first ")
	first.pasted("a\nb\n")
	a.prompt.history.add(first, "1")
	a.prompt.history.add(*written("second"), "2")
	a.prompt.draft = *written("draft")
	a.prompt.takeBack([]string{"1", "2"})
	if got := a.prompt.draft.whole(); got != "first a\nb\n\n\nsecond\n\ndraft" || len(a.prompt.draft.segments()) != 3 {
		t.Errorf("it is %q", got)
	}
}

// The answer to a request takes back what was said about it, and nothing that the view said since.
func TestAnAnswerLeavesWhatIsSaidSince(t *testing.T) {
	a := scene(t)
	a.begins("sending")
	if a.told(nil); a.said != "" {
		t.Errorf("after the answer it says %q", a.said)
	}
	a.begins("sending")
	a.turn = 3
	a.prompt.draft.insert("/rewind")
	a.obey()
	if a.told(nil); a.said != "/rewind needs an idle pod; Esc interrupts turn 3" {
		t.Errorf("after the answer and a command it says %q", a.said)
	}
}
