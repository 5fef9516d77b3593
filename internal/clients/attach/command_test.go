package attach

import (
	"slices"
	"strings"
	"testing"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

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
		"another program's": "/vim", "no shell command": "!",
	} {
		a := scene(t)
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

// A prompt that podd knows goes to it as it was typed, with its name. None replaces a command of the view; Enter waits for their names.
func TestKnownPrompts(t *testing.T) {
	a, wait := drained(t)
	a.ready = true
	unreachable, err := client.New(client.Config{Socket: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	defer unreachable.Close()
	a.Client = unreachable
	a.known.list = []*poddv1.Prompt{{Name: "compact", About: "podd's"}, {Name: "gh:review", About: "re\x1bviews", Arguments: "n"}}
	var mine []string
	for _, s := range a.slashes()[len(builtins()):] {
		mine = append(mine, s.usage())
	}
	if want := []string{`/gh:review n            re\x1bviews`}; !slices.Equal(mine, want) {
		t.Errorf("%q, want %q", mine, want)
	}
	a.known.asking = true
	a.prompt.draft.insert("/gh:review 'a b'")
	a.press(key{kind: keyEnter})
	if got := a.prompt.draft.text(); got != "/gh:review 'a b'" || a.prompt.held != keyEnter {
		t.Fatalf("Enter left %q, and waits: %v", got, a.prompt.held)
	}
	a.known.asking = false
	a.completed(true)
	wait()
	// The end of a name behind a colon is enough, and so is one that podd alone may know.
	for _, typed := range []string{"/gh:review 'a b'", "/review x", "/new:server y"} {
		if a.prompt.draft.empty() && typed[1] != 'g' {
			a.prompt.draft.insert(typed)
			a.press(key{kind: keyEnter})
			wait()
		}
		if got := a.prompt.history.prompts[len(a.prompt.history.prompts)-1]; got.whole() != typed || got.request == "" {
			t.Errorf("%s: the history has %+v, the draft %q, and it says %q", typed, got, a.prompt.draft.text(), a.said)
		}
		a.prompt.draft.clear()
	}
}
