package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/process"
	"podd/internal/guard/sandbox"
)

// start starts a script in a sandbox, under a shell like the shell tool's.
func (h *house) start(s *sandbox.Sandbox, script string) *process.Tree {
	h.t.Helper()
	scope, done := h.scope()
	defer done()
	c, err := s.Command(scope, 3, "/bin/sh", "-c", script)
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `trap : TERM; (exec "$@"); exit $?`, "podd"}, c.Args...)...)
	cmd.Dir, cmd.ExtraFiles = scope.Dir, c.Files
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...)
	tree, err := process.Start(cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { tree.Stop(0) })
	return tree
}

// awaitUp waits until a script has made the file "up" in the workspace.
func (h *house) awaitUp(tree *process.Tree) {
	h.t.Helper()
	for h.t.Context().Err() == nil {
		if _, err := os.Stat(h.path("work/up")); err == nil {
			return
		}
		select {
		case <-tree.Exited():
			if _, err := os.Stat(h.path("work/up")); err != nil {
				h.t.Fatal("the command ended by itself")
			}
		default:
			runtime.Gosched()
		}
	}
}

// named is the host's process id of the process that has a unique name as its argument
// and is not in the session outside; 0 if it does not exist.
func named(name string, outside int) int {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(text), "sleep\x00"+name+"\x00") {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		// State, parent, process group, session.
		if f := strings.Fields(rest); len(f) > 3 && f[0] != "Z" && f[3] != strconv.Itoa(outside) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	return 0
}

// unique is a large number of seconds that no other test sleeps.
func unique(n int) string { return strconv.Itoa(1_000_000 + os.Getpid()*10 + n) }

// Whatever a command does to survive its end, it does not succeed in a sandbox.
func TestNothingSurvivesStop(t *testing.T) {
	for i, c := range []struct {
		name, script string
		// escapes says that it survives without a sandbox.
		escapes bool
	}{
		{"ignores signals", "trap '' TERM HUP; sleep SLEEP & echo >up; wait; sleep 600", false},
		{"setsid", "setsid sleep SLEEP & echo >up; sleep 600", false},
		{"setsid, environment cleared", "setsid env -i sleep SLEEP & env -i sleep SLEEP & echo >up; sleep 600", false},
		{"double fork", "(setsid env -i sh -c '(trap \"\" TERM; sleep SLEEP) &' &) ; (env -i sh -c 'sleep SLEEP &' &); echo >up; sleep 600", true},
		{"holds the output", "(setsid env -i sleep SLEEP 2>&1 &); env -i sleep SLEEP & echo >up; sleep 600", true},
		{"kills its parent", "sleep SLEEP & echo >up; kill -KILL $PPID; kill -KILL 0; sleep 600", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range append([]sandbox.Mode{sandbox.Off}, modes...) {
				t.Run(mode, func(t *testing.T) {
					h := newHouse(t)
					s := h.sandbox(mode)
					seconds := unique(i)
					tree := h.start(s, strings.ReplaceAll(c.script, "SLEEP", seconds))
					h.awaitUp(tree)
					// Landlock's filter lets no command leave its session.
					session := 0
					if mode == sandbox.Off && strings.Contains(c.script, "setsid") {
						session = tree.ID().PID
					}
					for mode != sandbox.Landlock && c.name != "kills its parent" && named(seconds, session) == 0 && t.Context().Err() == nil {
						runtime.Gosched()
					}
					if left := tree.Stop(100 * time.Millisecond); left != 0 {
						t.Errorf("%d processes remain", left)
					}
					survivor := named(seconds, 0)
					if survivor != 0 {
						_ = syscall.Kill(survivor, syscall.SIGKILL)
					}
					if escapes := mode == sandbox.Off && c.escapes; (survivor != 0) != escapes {
						t.Errorf("survived: %v, want %v", survivor != 0, escapes)
					}
				})
			}
		})
	}
}

// In a sandbox a command also has the grace time.
func TestStopIsPoliteInside(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			tree := h.start(h.sandbox(mode), "trap 'echo bye >bye; exit' TERM; echo >up; while :; do sleep 0.02; done")
			h.awaitUp(tree)
			tree.Stop(time.Minute)
			if _, err := os.Stat(h.path("work/bye")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A command with Dies does not outlive the process that started it, nor does what it started.
func TestCommandDiesWithItsStarter(t *testing.T) {
	for i, dies := range []bool{true, false} {
		t.Run(strconv.FormatBool(dies), func(t *testing.T) {
			h := newHouse(t)
			h.dies = dies
			seconds := unique(i)
			tree := h.start(h.sandbox(sandbox.Bwrap), "(setsid env -i sleep "+seconds+" &); echo >up; until [ -e go ]; do sleep 0.02; done; echo >went; sleep 600")
			h.awaitUp(tree)
			for named(seconds, 0) == 0 && t.Context().Err() == nil {
				runtime.Gosched()
			}
			if err := syscall.Kill(tree.ID().PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if dies {
				for named(seconds, 0) != 0 && t.Context().Err() == nil {
					runtime.Gosched()
				}
				return
			}
			h.write("work/go")
			for t.Context().Err() == nil {
				if _, err := os.Stat(h.path("work/went")); err == nil {
					break
				}
				runtime.Gosched()
			}
		})
	}
}
