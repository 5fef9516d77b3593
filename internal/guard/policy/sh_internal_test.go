package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/item"
)

// lab runs lines in real shells whose only programs are tracers: each writes its
// name and its arguments to a file.
type lab struct {
	shells   []string
	bin, dir string
	trace    string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	root := t.TempDir()
	l := &lab{bin: filepath.Join(root, "bin"), dir: filepath.Join(root, "dir"), trace: filepath.Join(root, "trace")}
	for _, dir := range []string{l.bin, l.dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\nr=\nfor a in \"${0##*/}\" \"$@\"; do r=\"$r$a\x02\"; done\nprintf '%s\x01' \"$r\" >>'" + l.trace + "'\n"
	for _, name := range []string{"say", "rm", "hi", "x", "a", "b", "f", "E", "hirm", "sayrm", "sh"} {
		if err := os.WriteFile(filepath.Join(l.bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// Like a program that no list has, it runs its arguments.
	if err := os.WriteFile(filepath.Join(l.bin, "wrap"), []byte("#!/bin/sh\n\"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			l.shells = append(l.shells, path)
		}
	}
	return l
}

// shellT is the needed part of testing.TB and rapid.T.
type shellT interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
	Context() context.Context
}

// run returns what a line runs in a shell, and what it leaves in its directory.
func (l *lab) run(t shellT, shell, line string) (ran [][]string, files []fs.DirEntry) {
	t.Helper()
	if err := os.Remove(l.trace); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	cmd.Env, cmd.Dir = []string{"PATH=" + l.bin}, l.dir
	_ = cmd.Run() // A line may fail.
	text, err := os.ReadFile(l.trace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, c := range strings.Split(string(text), "\x01") {
		if c != "" {
			words := strings.Split(c, "\x02")
			ran = append(ran, words[:len(words)-1])
		}
	}
	if files, err = os.ReadDir(l.dir); err != nil {
		t.Fatal(err)
	}
	return ran, files
}

// check runs a line that the policy allows in each shell: only say may run, with exactly
// the words that the policy saw, and no file may be left behind.
func (l *lab) check(t shellT, p *Policy, line string) {
	t.Helper()
	if p.Decide(Call{Tool: "shell", Command: line}).Decision != Allow {
		return
	}
	commands, err := plain(line)
	if err != nil {
		t.Fatalf("%q is allowed and is not plain: %v", line, err)
	}
	for _, shell := range l.shells {
		ran, files := l.run(t, shell, line)
		for _, words := range ran {
			if words[0] != "say" || !slices.ContainsFunc(commands, func(c command) bool { return slices.Equal(c.words, words) }) {
				t.Errorf("%s runs %q for %q, which the policy read as %q", shell, words, line, commands)
			}
		}
		if len(files) > 0 {
			t.Errorf("%s leaves %v for %q", shell, files, line)
		}
	}
}

func sayer(t testing.TB) *Policy {
	t.Helper()
	p, err := New(Always, []item.Rule{{Tool: "shell", Command: "say *", Decision: Allow}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The tracers see what runs: otherwise the tests below would prove nothing.
func TestLab(t *testing.T) {
	l := newLab(t)
	for _, shell := range l.shells {
		ran, files := l.run(t, shell, "say 'a b' $(rm x); f > out || rm y")
		want := [][]string{{"rm", "x"}, {"say", "a b"}}
		if len(files) != 1 || len(ran) != 3 || !slices.EqualFunc(ran[:2], want, slices.Equal[[]string]) {
			t.Fatalf("%s: ran %q, left %v", shell, ran, files)
		}
		_ = os.Remove(filepath.Join(l.dir, "out"))
	}
}

// tokens are the elements of the shell's grammar.
func tokens() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"say", "say", "say ", " ", " ", "\t", "\n", ";", "&", "|", "&&", "||", "'", "'", "\"", "\"", "\\", "\\\n", "$", "(", ")", "{", "}", "<", ">", "`", "~", "*", "?",
		"[", "]", "#", "!", "=", ",", "..", "x", "hi", "rm x", "rm", "r", "m", "2>&1", ">/dev/null", "<<E", "E", "$'", "$\"", "é", "-", "%", "^", "a=", "=~", "in", "{}",
		"$(rm x)", "`rm`", " && ", " | ", "; ", "eval ", "sh -c ", "'rm x'", "\"rm x\"", "#\\\n", "a=rm ", "$a", "wrap ", "wrap ", "echo ", "()", "{ ", "; }", "&>x ", "\r\n",
	})
}

// Real shells run exactly what the policy saw in an allowed line.
func TestAllowedLinesRunWhatWasSeen(t *testing.T) {
	l, p := newLab(t), sayer(t)
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(tokens(), 1, 12).Draw(t, "tokens"), "")
		l.check(t, p, line)
		l.check(t, p, "say "+line)
	})
}

// With a policy that allows everything but rm, real shells run no rm.
func TestDeniedCommandsDoNotRun(t *testing.T) {
	l := newLab(t)
	p, err := New(Never, []item.Rule{{Tool: "shell", Decision: Allow}, {Command: "rm *", Decision: Deny}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		l.checkDenied(t, p, strings.Join(rapid.SliceOfN(tokens(), 1, 10).Draw(t, "tokens"), ""))
	})
}

// checkDenied runs a line that the policy allows in each shell: none may run rm.
func (l *lab) checkDenied(t shellT, p *Policy, line string) {
	t.Helper()
	if p.Decide(Call{Tool: "shell", Command: line}).Decision != Allow {
		return
	}
	for _, shell := range l.shells {
		ran, files := l.run(t, shell, line)
		for _, words := range ran {
			if words[0] == "rm" {
				t.Errorf("%s runs %q for %q", shell, words, line)
			}
		}
		for _, f := range files {
			_ = os.RemoveAll(filepath.Join(l.dir, f.Name()))
		}
	}
}

func FuzzAllowedLines(f *testing.F) {
	for _, line := range []string{
		"say hi", "say 'a b' && say \"c $ d\" | say x\nsay \\\n y", "say hi 2>&1 >/dev/null || say", "say $(rm x)", "say hi; rm x", "say `rm x`", "say <(rm x)",
		"say hi & rm x", "say {a,b} ~ * $'x'", "say <<E\nrm x\nE", "say a\\\nb # rm x", "s\"a\"y 'rm' -- {} [ ] HEAD~1 a=b", "say \"\\$(rm x)\" '`rm x`'", "say \"foo$\" foo$",
	} {
		f.Add(line)
	}
	l, p := newLab(f), sayer(f)
	f.Fuzz(func(t *testing.T, line string) { l.check(t, p, line) })
}
