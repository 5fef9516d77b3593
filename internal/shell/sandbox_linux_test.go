package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// confined gives the shell tool a sandbox; the test is skipped if none of the mode works,
// in which case the sandbox's own tests fail.
func confined(t *testing.T, mode sandbox.Mode, adjust ...func(*sandbox.Config)) func(*setup) {
	t.Helper()
	c := sandbox.Config{Mode: mode, Environ: os.Environ()}
	for _, f := range adjust {
		f(&c)
	}
	s := sandbox.Detect(t.Context(), c)
	if s.Mode() != mode {
		t.Skip(s.Why())
	}
	return func(c *setup) {
		quickly(c)
		c.Sandbox, c.Confined = s, true
	}
}

var sandboxes = []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock}

// taken says whether a long table's row i runs in a sandbox: with -short, Landlock gets
// every fifth row only. bubblewrap always gets all.
func taken(mode sandbox.Mode, i int) bool {
	return !testing.Short() || mode == sandbox.Bwrap || i%5 == 0
}

// In a sandbox a command gives the same result as without one.
func TestShellInASandbox(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.txt": "one\n"}, confined(t, mode))
			for _, c := range []struct{ command, summary, content string }{
				{"cat a.txt; echo there >&2", "exit 0: there; 2 lines", "one\nthere\n"},
				{"echo b >b.txt && cat b.txt; exit 3", "exit 3: b; 1 line", "b\n"},
				{"kill -SEGV $$", "exit 139 (as by signal 11, segmentation fault), no output", ""},
				{"pwd; echo $PWD", "exit 0: " + b.dir + "; 2 lines", b.dir + "\n" + b.dir + "\n"},
				{"echo x >$TMPDIR/kept", "exit 0, no output", ""},
				{"cat $TMPDIR/kept; rm $TMPDIR/kept", "exit 0: x; 1 line", "x\n"},
				{"sleep 600 & setsid sleep 600 2>/dev/null & echo done", "exit 0: done; ", "done\n"},
				{"cat; read x || echo eof", "exit 0: eof; 1 line", "eof\n"},
			} {
				out := b.call("shell", object("command", c.command))
				if !strings.Contains(out.Summary, c.summary) || !strings.HasPrefix(out.Content, c.content) {
					t.Errorf("%s: %q, %q", c.command, out.Summary, out.Content)
				}
			}
			// The command can read the pod's spool folder, where a marker points.
			long := b.call("shell", object("command", "seq 1 10000"))
			if out := b.call("shell", object("command", "tail -n 1 "+long.Cut.SpoolPath)); out.Content != "10000\n" {
				t.Errorf("the spooled text: %+v", out)
			}
			if access := b.tool("shell").Access(object("command", "make")); !access.Confined || access.Command != "make" {
				t.Errorf("access %+v", access)
			}
		})
	}
}

func TestShellTimesOutInASandbox(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, nil, confined(t, mode))
			out := b.timesOut("(setsid env -i sleep 600 2>/dev/null &); trap '' TERM; echo up; sleep 600; sleep 600")
			if !strings.HasPrefix(out.Content, "up\n") {
				t.Errorf("got %+v", out)
			}
		})
	}
}

// A confined command stays confined, and is found again, when podd is killed.
func TestShellRecoversInASandbox(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			confined(t, mode)
			t.Setenv(sandboxVariable, mode)
			dir, spoolDir := t.TempDir(), t.TempDir()
			outside := filepath.Join(t.TempDir(), "file")
			arguments := object("timeout_seconds", 60, "command",
				": >ready; while ! [ -e go ]; do sleep 0.01; done; echo x 2>/dev/null >"+outside+"; echo ended; exit 5")
			killAfter(t, dir, spoolDir, arguments, "ready")
			b := benchAt(t, dir, spoolDir)
			b.write("go", "")
			out, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
			if err != nil || found != item.RecoveryFound || out.Content != "ended\n" || !strings.HasSuffix(out.Summary, ", exit 5: ended; 1 line") {
				t.Errorf("found %v, %v: %+v", found, err, out)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("it left its sandbox")
			}
		})
	}
}

func TestShellRefusesWithoutARequiredSandbox(t *testing.T) {
	t.Setenv("PATH", os.Getenv("PATH"))
	s := sandbox.Detect(t.Context(), sandbox.Config{Mode: sandbox.Bwrap, Required: true, Environ: []string{}})
	if s.Fate() == sandbox.Confined {
		path := os.Getenv("PATH")
		t.Setenv("PATH", t.TempDir())
		s = sandbox.Detect(t.Context(), sandbox.Config{Mode: sandbox.Bwrap, Required: true, Environ: []string{}})
		t.Setenv("PATH", path)
	}
	b := newBench(t, nil, func(c *setup) { c.Sandbox = s })
	out := b.call("shell", object("command", ": >ran"))
	if _, err := os.Stat(b.path("ran")); err == nil || !out.IsError || !strings.Contains(out.Summary, "not run: the configuration requires a sandbox") {
		t.Errorf("got %+v", out)
	}
}

// A command has the key of its call, in the foreground and as a job.
func TestCommandsHaveTheKeyOfTheirCall(t *testing.T) {
	for name, options := range map[string]func(*testing.T) []func(*setup){
		"plain": func(*testing.T) []func(*setup) { return nil },
		"bwrap": func(t *testing.T) []func(*setup) { return []func(*setup){confined(t, sandbox.Bwrap)} },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, options(t)...)
			for _, background := range []bool{false, true} {
				out, err := b.tool("shell").Run(t.Context(), &tool.Invocation{
					Arguments: object("command", "echo key=$PODD_CALL", "background", background), CallID: fmt.Sprint("c", background), Key: "k1",
				})
				if strings.Contains(out.Summary, "runs as job 1") {
					// The machine was too busy for it to exit at once.
					out = b.job("action", "read", "id", "1", "after", 0, "wait_seconds", 600, "until", "^key=")
				}
				if err != nil || !strings.Contains(out.Content, "key=k1\n") {
					t.Errorf("background %v: %+v, %v", background, out, err)
				}
			}
		})
	}
}
