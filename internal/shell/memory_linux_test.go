package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
)

// A command that uses too much memory is ended with a sentence that says so, however it
// uses it; the next one runs.
func TestShellMemory(t *testing.T) {
	t.Parallel()
	const limit = 128 << 20
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Bwrap, sandbox.Landlock} {
		t.Run(mode, func(t *testing.T) {
			small := func(c *sandbox.Config) { c.MaxMemory = limit }
			adjust := func(c *setup) {
				// The configuration wants a sandbox, and none works.
				s := sandbox.Detect(t.Context(), sandbox.Config{Mode: sandbox.Off, MaxMemory: limit})
				s.Config.Mode = sandbox.Auto
				c.Sandbox = s
			}
			if mode != sandbox.None {
				adjust = confined(t, mode, small)
			}
			b := newBench(t, nil, adjust)
			for _, command := range []string{
				"tail /dev/zero",
				"echo started; tail /dev/zero & sleep 600",
				"for i in 1 2 3 4; do (x=$(head -c 40000000 /dev/zero | tr '\\0' a); sleep 600; : $x) & done; wait",
				"trap '' TERM; (trap '' TERM; exec tail /dev/zero)",
				"(env -i setsid tail /dev/zero || env -i tail /dev/zero) & sleep 600",
			} {
				out := b.call("shell", object("command", command))
				if left := at(t, b.dir); len(left) > 0 {
					t.Errorf("%s: it is reported as ended, and there is still %q", command, left)
				}
				if !out.IsError || !strings.Contains(out.Summary, "MiB of memory, more than the 128 MiB of [sandbox] max_memory_bytes") {
					t.Errorf("%s: %q", command, out.Summary)
				}
			}
			// Reserved memory, and memory that forks share, does not count.
			for _, command := range []string{
				"echo done",
				"x=$(head -c 40000000 /dev/zero | tr '\\0' a); for i in 1 2 3 4 5; do (sleep 0.3; :) & done; wait; echo done",
			} {
				if out := b.call("shell", object("command", command)); out.IsError || out.Content != "done\n" {
					t.Errorf("%s: %q %q", command, out.Summary, out.Content)
				}
			}
		})
	}
}

// No process has files in memory mapped; there are few places for them.
func TestShellFilesInMemory(t *testing.T) {
	b := newBench(t, nil, confined(t, sandbox.Bwrap, func(c *sandbox.Config) { c.MaxMemory = 64 << 20 }))
	out := b.call("shell", object("command", "head -c 100000000 /dev/zero >/dev/shm/big; stat -c %s /dev/shm/big; rm /dev/shm/big; echo x >/dev/new; head -c 3000000 /dev/zero >/run/big; "+
		"stat -f -c %T /var/tmp; echo ok >/var/tmp/a && cat $TMPDIR/a"))
	for _, want := range []string{"67108864", "/dev/new: Read-only file system", "ok"} {
		if !strings.Contains(out.Content, want) {
			t.Errorf("%q is missing in %s", want, out.Content)
		}
	}
	if strings.Contains(out.Content, "tmpfs") || strings.Count(out.Content, "No space left") < 2 {
		t.Errorf("there is room in memory: %s", out.Content)
	}
}

// at are the command lines of the processes that work in a directory. One that is ending has none, and runs nothing any more.
func at(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		if cwd, err := os.Readlink(link); err == nil && cwd == dir {
			if text, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline")); len(text) > 0 {
				found = append(found, string(text))
			}
		}
	}
	return found
}
