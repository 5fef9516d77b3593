package sandbox

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/pkg/scopefs"
)

// yard is a workspace whose guards are made and ended by hand, so that what a test does between is a command's.
type yard struct {
	t    *testing.T
	dir  string
	box  *Sandbox
	away string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, dir: filepath.Join(base, "work"), away: filepath.Join(base, "away"), box: &Sandbox{mode: Landlock}}
	y.box.Environ = []string{"HOME=" + base}
	for _, dir := range []string{y.dir, y.away} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

// sh runs a script in the workspace.
func (y *yard) sh(script string) string {
	y.t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = y.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(y.dir), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		y.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// settle waits until what was made before shows by its time.
func (y *yard) settle() {
	y.t.Helper()
	for began := time.Now(); time.Since(began) < 80*time.Millisecond; {
		y.sh("true")
	}
}

func (y *yard) guard(changes ...string) *Guard {
	y.t.Helper()
	fs, err := scopefs.Open(scopefs.Config{Dir: y.dir})
	if err != nil {
		y.t.Fatal(err)
	}
	defer fs.Close()
	g, err := y.box.Guard(Scope{Dir: y.dir, Roots: fs.Roots()}, changes)
	if err != nil {
		y.t.Fatal(err)
	}
	y.t.Cleanup(g.Close)
	return g
}

func (y *yard) watch(g *Guard) *Guard {
	g.Watch(func() (string, error) { return y.away, nil }, slog.New(slog.DiscardHandler))
	return g
}

// ends fails the test unless a guard has nothing to say.
func (y *yard) ends(g *Guard) {
	y.t.Helper()
	if undone := g.End(); len(undone.Moved) > 0 {
		y.t.Errorf("%+v", undone.Moved)
	}
}

// mine has settings and hooks of the person's.
const mine = `git config alias.x '!sh'; echo true >.git/hooks/pre-push;`

// A repository that the search finds only when others are gone is no new one.
func TestRepositoriesFoundLaterStay(t *testing.T) {
	y := newYard(t)
	y.sh(`for i in $(seq 10 75); do git init -q r$i; done; cd r75; ` + mine + `
		cd ..; mkdir s; git init -q --bare s/bare.git; git -C s/bare.git config alias.x '!sh'`)
	y.settle()
	g := y.watch(y.guard())
	y.sh("rm -rf r1? r2?; git -C r75 -c user.name=n -c user.email=e commit -q --allow-empty -m one")
	y.ends(g)
	y.sh("test -e r75/.git/hooks/pre-push; git -C r75 config alias.x; git -C s/bare.git config alias.x")
}

// A command that begins while another one makes a repository takes nothing of that for its own work.
func TestRepositoryThatAnotherMakes(t *testing.T) {
	y := newYard(t)
	y.sh(`git init -q n; cd n/.git/hooks; : >a.sample; printf '#!' >b.sample; echo mine >c.sample`)
	g := y.watch(y.guard())
	y.sh(`cd n/.git/hooks; echo done >a.sample; echo /bin/sh >>b.sample`)
	y.ends(g)
	y.sh(`cd n/.git/hooks; [ "$(cat a.sample)" = done ]; [ "$(cat b.sample)" = '#!/bin/sh' ]`)
	g = y.watch(y.guard())
	y.sh(`echo other >n/.git/hooks/c.sample`)
	if undone := g.End(); len(undone.Moved) != 1 || !undone.Moved[0].Back {
		t.Errorf("%+v", undone.Moved)
	}
}

// While a command removes repositories, nothing in them is put back: the command would fail.
func TestRepositoriesAreRemovedWhileCompared(t *testing.T) {
	y := newYard(t)
	y.sh("for i in $(seq 30); do git init -q r$i; mkdir r$i/.git/hooks/d; for f in $(seq 20); do echo $f >r$i/.git/hooks/d/$f; ln -s $f r$i/.git/hooks/d/l$f; done; done")
	g := y.watch(y.guard())
	removed := make(chan struct{})
	go func() {
		defer close(removed)
		cmd := exec.Command("rm", "-rf", y.dir+"/r1")
		for i := range 30 {
			cmd.Args = append(cmd.Args, fmt.Sprint(y.dir, "/r", i+1))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}()
	for done := false; !done; {
		g.pass(func() { g.compareAll(false) })
		select {
		case <-removed:
			done = true
		default:
		}
	}
	y.ends(g)
}

// A bare repository may have working trees in it: their links stay, and they are guarded like all others.
func TestBareRepositoryWithTreesInIt(t *testing.T) {
	y := newYard(t)
	y.sh(`git init -q --bare . && git worktree add -q --orphan main 2>/dev/null || git --git-dir=. worktree add -q main $(git -c user.name=n -c user.email=e commit-tree -m one $(git mktree </dev/null))`)
	y.settle()
	g := y.watch(y.guard())
	y.sh("mkdir -p main/node_modules/.bin; ln -s ../a main/node_modules/.bin/a; ln -s main current")
	y.ends(g)
	y.sh("test -L main/node_modules/.bin/a; test -L current")
	g = y.watch(y.guard())
	y.sh("ln -s /etc/passwd ORIG_HEAD; git init -q main/new; git -C main/new config core.fsmonitor evil; mkdir evil; cp -r HEAD objects refs evil; echo 'gitdir: ../evil' >main/.git")
	g.End()
	if got := y.sh("ls -d ORIG_HEAD || true; git -C main/new config core.fsmonitor || true; cat main/.git"); strings.Contains(got, "evil") || strings.HasPrefix(got, "ORIG_HEAD") {
		t.Error(got)
	}
}

// A kept file that is too large to be put back is named once, and does not end its command.
func TestLargeKeptFileIsNamedOnce(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q . && head -c 100000 /dev/zero >.git/hooks/post-merge")
	y.settle()
	g := y.watch(y.guard())
	y.sh("echo more >>.git/hooks/post-merge")
	for range maxBack + 5 {
		g.pass(func() { g.compareAll(false) })
	}
	if path := g.Stubborn(); path != "" {
		t.Errorf("%s ends it", path)
	}
	if undone := g.End(); len(undone.Moved) != 1 || undone.Moved[0].Err == nil {
		t.Errorf("%+v", undone.Moved)
	}
}

// How much of a directory is read does not depend on a command.
func TestKeptDirectoriesAreReadInPart(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q new; cd new/.git/hooks; for d in $(seq 40); do mkdir d$d; for f in $(seq 150); do truncate -s 60000 d$d/$f; done; done; mkdir -p $(seq -s / 40)")
	g := y.guard()
	total, names := 0, 0
	for _, k := range g.kept {
		names += len(k.Files)
		for _, f := range k.Files {
			total += len(f.Text)
		}
	}
	if total > maxKeptAll || names > 2*maxKeptNames {
		t.Errorf("%d bytes of %d files", total, names)
	}
	y.ends(y.watch(g))
}

// A pipe in the place of a file is not waited for.
func TestPipesAreNotRead(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q . && mkdir .git/rebase-merge && mkfifo .git/rebase-merge/git-rebase-todo")
	pipe, err := os.OpenFile(filepath.Join(y.dir, ".git", todo), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	made := make(chan *Guard)
	go func() { made <- y.guard() }()
	select {
	case g := <-made:
		y.ends(y.watch(g))
	case <-time.After(10 * time.Second):
		t.Fatal("it waits")
	}
}

// What a person agreed to in one command stays while others run.
func TestAgreedChangesStayBesideOtherCommands(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q .")
	server := y.watch(y.guard())
	g := y.watch(y.guard(filepath.Join(y.dir, ".git/config")))
	y.sh("git config alias.x '!sh'")
	y.ends(g)
	y.ends(server)
	y.sh("git config alias.x")
}

// A .git that is a link cannot be mounted read-only: it is put back.
func TestLinkToAGitDirectoryIsPutBack(t *testing.T) {
	y := newYard(t)
	y.box.mode = Bwrap
	y.sh("git init -q real; mv real/.git git; rm -r real; ln -s git .git; mkdir ../other; git init -q ../other")
	g := y.watch(y.guard())
	y.sh("rm .git; ln -s ../other/.git .git")
	g.End()
	if got := y.sh("readlink .git"); got != "git" {
		t.Errorf(".git leads to %s", got)
	}
}

// A way to merge that is not git's own is a program that git would run.
func TestNewStrategiesAreRemoved(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q . && mkdir .git/rebase-merge .git/sequencer")
	for i, strategy := range []string{"ort", "x/../evil"} {
		g := y.watch(y.guard())
		y.sh(fmt.Sprintf("echo %s >.git/rebase-merge/strategy; printf '[options]\\n\\tstrategy = %s\\n' >.git/sequencer/opts", strategy, strategy))
		if undone := g.End(); len(undone.Moved) != 2*i {
			t.Errorf("%s: %+v", strategy, undone.Moved)
		}
	}
	y.sh("test ! -e .git/rebase-merge/strategy; test ! -e .git/sequencer/opts")
}

// Working trees that are made outside of the workspace meanwhile, or moved, still belong to their repository.
func TestWorkingTreesMadeMeanwhileStay(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m one && git worktree add -q a && git worktree add -q ../b")
	y.settle()
	g := y.watch(y.guard())
	y.sh("git worktree add -q ../c; git worktree move a a2; git worktree move ../b ../b2")
	y.ends(g)
	y.sh("for tree in a2 ../b2 ../c; do git -C $tree status -s; done; ! git worktree list | grep prunable")
}

// A repository in the place of another one has its own settings, whatever the file system numbers it.
func TestRepositoryInThePlaceOfAnother(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q lib && git -C lib remote add origin old && git -C lib config alias.x '!sh'")
	y.settle()
	g := y.watch(y.guard())
	y.sh("rm -rf lib; git init -q lib; git -C lib remote add origin new")
	y.ends(g)
	if got := y.sh("git -C lib config remote.origin.url; git -C lib config alias.x || true"); got != "new" {
		t.Error(got)
	}
}

// If a setting that must stay is removed, the others that a command made stay.
func TestHarmlessSettingsStayWhenOthersComeBack(t *testing.T) {
	y := newYard(t)
	y.sh("git init -q . && git config alias.x '!sh'")
	g := y.watch(y.guard())
	y.sh("git config branch.main.remote origin")
	g.pass(func() { g.compareAll(false) })
	y.sh("git config --unset alias.x")
	g.End()
	y.sh("git config alias.x; git config branch.main.remote")
}

// A new directory whose name begins like that of another one is moved away as a whole.
func TestNewDirectoriesLeaveNothing(t *testing.T) {
	y := newYard(t)
	g := y.guard()
	g.away = func() (string, error) { return y.away, nil }
	y.sh("git init -q new; cd new/.git/hooks; mkdir a a-b; echo 1 >a/c; echo 1 >a-b/c")
	g.End()
	y.sh("cd new/.git/hooks; test ! -e a; test ! -e a-b")
}

// What appears before podd looks for the first time is seen twice, for there is an event too. It is moved away once, and kept.
func TestWhatIsSeenTwiceIsKept(t *testing.T) {
	y := newYard(t)
	g := y.guard()
	y.sh("echo attacked >.envrc")
	moved := y.watch(g).End().Moved
	if len(moved) != 1 {
		t.Fatalf("%+v", moved)
	}
	if text, err := os.ReadFile(moved[0].To); err != nil || string(text) != "attacked\n" {
		t.Errorf("what was moved is %q, %v", text, err)
	}
}
