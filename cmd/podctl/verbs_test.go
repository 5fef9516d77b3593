package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"podd/pkg/llm/scripted"
)

// For any arguments of a verb, too few, too many or unknown names, podctl ends with a
// documented exit code and one sentence.
func TestVerbsTakeAnyArguments(t *testing.T) {
	w := newWorld(t, scripted.Handler(func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Yes.")) }))
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "") // podctl setup would become a podd that is installed.
	for _, cmd := range everyVerb() {
		verb := strings.Fields(cmd.CommandPath())[1:]
		for _, arg := range []string{"no-such-pod", "", "../x", "\xff\x1b", "7", "-1"} {
			for n := range 4 {
				args := verb
				for range n {
					args = append(args[:len(args):len(args)], arg)
				}
				code, stderr := w.runHere(args)
				said := strings.Count(stderr, "podctl: ")
				if code == 0 && said > 0 || code != 0 && said != 1 || code < 0 || code > exitTurn {
					t.Errorf("podctl %q: exit code %d, standard error %q", args, code, stderr)
				}
			}
		}
	}
}

// Scripts run every verb, and every other name of one: once as it is meant, and once so that
// it fails and says why.
func TestVerbsHaveScripts(t *testing.T) {
	var lines []string
	for _, dir := range []string{"testdata/script", "testdata/sandbox"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, _, _ := strings.Cut(string(text), "\n-- ")
			lines = append(lines, strings.Split(script, "\n")...)
		}
	}
	for _, cmd := range everyVerb() {
		for _, name := range append([]string{cmd.Name()}, cmd.Aliases...) {
			path := cmd.Parent().CommandPath() + " " + name
			well, badly := scriptsRun(lines, path, cmd)
			if test, ok := runsElsewhere[strings.TrimPrefix(path, "podctl ")]; ok {
				if well {
					t.Errorf("a script runs %s: remove it from runsElsewhere", path)
				}
				well = true
				test.check(t, path)
			}
			if !well {
				t.Errorf("no script runs %s without an error", path)
			}
			if !badly {
				t.Errorf("no script has a %s that fails, with its message on standard error", path)
			}
		}
	}
}

// scriptsRun says whether a line of scripts runs a verb, and whether one runs it badly and the
// lines behind that check the message.
func scriptsRun(lines []string, path string, cmd *cobra.Command) (well, badly bool) {
	var subs []string
	for _, sub := range cmd.Commands() {
		subs = append(subs, sub.Name())
	}
	runs := regexp.MustCompile(`\b` + path + `(?: ([a-z-]+))?(?:[^a-z-]|$)`)
	for i, line := range lines {
		words := strings.Fields(line)
		found := runs.FindStringSubmatch(line)
		if found == nil || slices.Contains(subs, found[1]) || strings.HasPrefix(line, "#") {
			continue
		}
		switch {
		case words[0] == "exec", words[0] == "await", words[0] == "exits" && words[1] == "0":
			well = true
		case line == "", words[0] == "exits", strings.HasPrefix(line, "! exec"):
			for _, check := range lines[i+1:] {
				if !regexp.MustCompile(`^(! )?(stdout|stderr) `).MatchString(check) {
					break
				}
				badly = badly || strings.HasPrefix(check, "stderr ")
			}
		}
	}
	return well, badly
}

// runsElsewhere are the verbs that no script can run well, with the test that does: they need
// a terminal, a browser or several nodes.
var runsElsewhere = map[string]goTest{
	"attach":     {"restart_test.go", "TestAttachSendsOnceBack", `w.onTerminal("attach", "p")`},
	"move":       {"../../integrations/postgres/handover_test.go", "TestNodesHandOver", `n3.Podctl("move", "one", "n3")`},
	"nodes rm":   {"../../integrations/postgres/move_test.go", "TestNodesMove", `n1.Podctl("nodes", "rm", "n2")`},
	"setup":      {"setup_test.go", "TestSetup", `setup()`},
	"web open":   {"webpair_test.go", "TestOpenAndRevoke", `"web", "open"`},
	"web pair":   {"webpair_test.go", "TestPairAtATerminal", `w.onTerminal("web", "pair", `},
	"web revoke": {"webpair_test.go", "TestOpenAndRevoke", `w.podctl("web", "revoke", `},
}

// goTest is a function of a Go file, and what it says to run a verb.
type goTest struct{ file, name, runs string }

// check fails if the test is gone or no longer runs the verb.
func (g goTest) check(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(g.file)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	_, body, found := strings.Cut(string(text), "\nfunc "+g.name+"(")
	body, _, _ = strings.Cut(body, "\n}\n")
	if !found || !strings.Contains(body, g.runs) {
		t.Errorf("%s: %s has no test %s with %s", path, g.file, g.name, g.runs)
	}
}

// everyVerb are podctl's commands and their subcommands.
func everyVerb() (verbs []*cobra.Command) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			verbs = append(verbs, sub)
			walk(sub)
		}
	}
	walk(newRootCommand(&program{}))
	return verbs
}

// Every verb about one pod takes the pod here if POD is missing, and says which one if
// there are several. Only delete needs its name.
func TestVerbsFindThePodHere(t *testing.T) {
	w := newWorld(t, scripted.Handler(func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Yes.")) }))
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"create", "older"}, {"submit", "-p", "older", "-f", "hello"}, {"create", "newer"}, {"submit", "-p", "newer", "-f", "hello"}} {
		if code, stderr := w.runHere(args); code != 0 {
			t.Fatalf("podctl %q: %s", args, stderr)
		}
	}
	further := map[string][]string{
		"fork": {"third"}, "rename": {"newer"}, "move": {"n2"}, "rewind": {"1"}, "approve": {"1"}, "deny": {"1"}, "inbox rm": {"r1"}, "rules rm": {"123abc"}, "jobs logs": {"1"},
		"jobs stop": {"1", "2"}, "send": {"a note"}, "update": {"--budget", "3"}, "answer": {"--dismiss"}, "image": {"shot.png"},
	}
	for _, cmd := range everyVerb() {
		verb := strings.TrimPrefix(cmd.CommandPath(), "podctl ")
		operands := strings.Fields(cmd.Use)[1:]
		switch {
		case len(operands) == 0 || strings.Trim(operands[0], "[]") != "POD":
			continue
		case operands[0] == "POD":
			if verb != "delete" && verb != "restore" {
				t.Errorf("%s does not find the pod here: write [POD]", verb)
			}
			continue
		case cmd.Annotations[withoutPodKey] != "" || verb == "attach": // attach needs a terminal.
			continue
		}
		_, stderr := w.runHere(slices.Concat(strings.Fields(verb), further[verb]))
		if !strings.Contains(stderr, "using pod newer (most recently active here); for another, use -p NAME: ") {
			t.Errorf("%s %q: standard error %q", verb, further[verb], stderr)
		}
	}
}

// If an argument is missing, it is POD.
func TestPodIsGiven(t *testing.T) {
	for args, want := range map[string]bool{
		"show": false, "show p": true, "show NoName": true, "delete": true,
		"fork new": false, "rename new": false, "rename p new": true, "fork p new": true, "fork p new more": true,
		"rewind 12": false, "rewind #12": false, "rewind p 12": true, "rewind 12 13": true,
		"approve 3": false, "approve p 3": true, "deny 3": false, "rules rm 123abc": false, "rules rm p 123abc": true, "deny pod_ab3 3": true,
		"jobs logs 1": false, "jobs logs p 1": true, "jobs stop 1 2": false, "jobs stop p 1 2": true, "jobs stop p": true,
		"inbox rm r": false, "inbox rm p r": true,
		"image": false, "image p": true, "image shot.png": false, "image shot.png out": false, "image p shot.png out": true,
		"send p": false, "send p text": true, "send No text": false, "send 12 text": false, "send p -": true, "send -": false,
	} {
		p := &program{}
		cmd, rest, err := newRootCommand(p).Find(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		p.stdin = (*os.File)(nil) // Nothing is piped in.
		if got := p.podGiven(cmd, rest); got != want {
			t.Errorf("%q names the pod: %t, want %t", args, got, want)
		}
	}
	p := &program{stdin: strings.NewReader("")}
	cmd, rest, _ := newRootCommand(p).Find([]string{"send", "p"})
	if !p.podGiven(cmd, rest) {
		t.Error("send p does not name the pod of a note that is piped in")
	}
}

// runHere runs podctl in this process.
func (w *world) runHere(args []string) (code int, stderr string) {
	var out, said bytes.Buffer
	code = run(w.t.Context(), args, program{
		stdin: strings.NewReader(""), stdout: &out, stderr: &said, now: time.Now, startFor: time.Hour,
		env: func(name string) string {
			for _, v := range w.env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		},
	})
	return code, said.String()
}
