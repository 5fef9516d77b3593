package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podd/internal/workspace/checkpoint"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/worker"
)

func shell(t *testing.T, dir, commands string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
}

// looks takes the checkpoints of a turn, and says what each look has.
type looks struct {
	t  *testing.T
	s  *saver
	at fold.Files
}

func newLooks(t *testing.T, dirs ...string) *looks {
	s := &saver{stores: checkpoint.New(checkpoint.Config{Dir: t.TempDir()}), pod: "p", dirs: dirs, open: make(map[string]*checkpoint.Workspace)}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return &looks{t: t, s: s}
}

// look returns for each checkpoint its directory, how many paths changed and what moved.
func (l *looks) look(agent bool) (said []string, moved []item.MovedRef) {
	l.t.Helper()
	taken, err := l.s.Take(l.t.Context(), l.at, worker.Changes{Agent: agent, Turn: 1})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, k := range taken {
		l.at.Last = slices.DeleteFunc(slices.Clone(l.at.Last), func(last item.Checkpoint) bool { return last.Dir == k.Dir })
		text := fmt.Sprintf("%s %d", filepath.Base(k.Dir), k.Changed)
		if k.Commit == k.Parent {
			text += " same"
		}
		for _, m := range k.Moved {
			text += fmt.Sprintf(" %s:%s", filepath.Base(m.Repo), m.Ref)
		}
		if k.More > 0 {
			text += fmt.Sprintf(" %d more", k.More)
		}
		said, moved = append(said, text), append(moved, k.Moved...)
		k.Moved, k.More = nil, 0
		l.at.Last = append(l.at.Last, k)
	}
	return said, moved
}

// What moved in the repositories of a pod's directories and in the one around them is named once, with the files of
// the commands or alone. What others moved is not.
func TestLooksNameMoves(t *testing.T) {
	top := filepath.Join(t.TempDir(), "top")
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	for _, dir := range []string{one, two} {
		if err := os.MkdirAll(filepath.Join(dir, "nested"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	branch := regexp.MustCompile(`heads/b\d+`)
	const commit = "git commit -q --allow-empty -m x; "
	shell(t, top, "git init -q -b main; "+commit+"git init -q -b main two/nested; cd two/nested; "+commit)
	l := newLooks(t, one, two)
	for _, step := range []struct {
		commands string
		agent    bool
		want     string
	}{
		{"true", false, "one 1, two 1"},
		{commit, true, "one 0 same top:HEAD top:refs/heads/main"},
		{"true", true, ""},
		{"echo > two/file; " + commit, true, "one 0 same top:HEAD top:refs/heads/main, two 1"},
		{"echo 2 > one/file; git tag v; cd two/nested; " + commit, true, "two 0 same nested:HEAD nested:refs/heads/main, one 1 top:refs/tags/v"},
		{"echo 3 > one/file; git tag w; ", false, "one 1"},
		{"git tag -d v w; for i in $(seq 40); do git branch b$i; done", true, "one 0 same" + strings.Repeat(" top:refs/heads/b", 32) + " 10 more"},
		{"rm -rf two/nested/.git; " + commit, true, "one 0 same top:HEAD top:refs/heads/main"},
		{"git init -q -b main two/nested; cd two/nested; " + commit, true, ""},
		{"cd two/nested; " + commit, true, "two 0 same nested:HEAD nested:refs/heads/main"},
	} {
		shell(t, top, step.commands)
		said, _ := l.look(step.agent)
		if got := branch.ReplaceAllString(strings.Join(said, ", "), "heads/b"); got != step.want {
			t.Errorf("%s: %q, want %q", step.commands, got, step.want)
		}
	}
}

// After a look that failed nothing is known of what moved before.
func TestNoMovesAfterAFailedLook(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, "git init -q -b main; git commit -q --allow-empty -m x")
	l := newLooks(t, dir)
	l.look(false)
	shell(t, dir, "git tag v")
	shell(t, dir, "mv $PWD $PWD-away")
	if _, err := l.s.Take(t.Context(), l.at, worker.Changes{Agent: true}); err == nil {
		t.Fatal("no error")
	}
	shell(t, dir+"-away", "mv $PWD "+dir)
	if said, _ := l.look(true); len(said) > 0 {
		t.Errorf("named: %q", said)
	}
}

// The commands that go back come from the references as they are now.
func TestBackCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "git init -q -b main; git commit -q --allow-empty -m x")
	l := newLooks(t, dir)
	l.look(false)
	shell(t, dir, "git tag v; git branch b")
	_, moved := l.look(true)
	back := func() string { return strings.Join(new(Checkpoints).Back(moved), "\n") }
	if got, want := back(), "git -C 'DIR' branch -D b\ngit -C 'DIR' tag -d v"; got != strings.ReplaceAll(want, "DIR", dir) {
		t.Errorf("back: %s", got)
	}
	shell(t, dir, "git tag -d v")
	if got, want := back(), "git -C 'DIR' branch -D b\n"; got != strings.ReplaceAll(want, "DIR", dir) {
		t.Errorf("back without the tag: %s", got)
	}
	shell(t, dir, "rm -rf .git")
	if got := back(); got != "\n" {
		t.Errorf("back without a repository: %s", got)
	}
}
