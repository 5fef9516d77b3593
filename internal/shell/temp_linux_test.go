package shell_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"podd/internal/guard/sandbox"
	"podd/pkg/tool/scratch"
)

// smallVariable marks a test process with its own mount namespace.
const smallVariable = "PODD_TEST_SMALL"

// Neither one pod's /tmp nor the cache of its workspace takes the disk from the others: a command
// that fills one is ended and says why, that is emptied, and meanwhile all other pods can write.
func TestShellTempIsBounded(t *testing.T) {
	if os.Getenv(smallVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), smallVariable+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			Pdeathsig:   syscall.SIGKILL,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("a small file system needs a user namespace: %v", err)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	const slowly = `fill() { i=0; while :; do head -c 100000 /dev/zero >$1$i || sleep 0.01; i=$((i+1)); done; }; `
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			adjust := confined(t, mode)
			for _, c := range []struct{ name, command, says string }{
				{"bytes", slowly + "fill $TMPDIR/f", "MiB, more than the "},
				{"inodes", "i=0; while :; do (: >$TMPDIR/$i) || sleep 0.01; i=$((i+1)); done", "and the disk has room for "},
				{"removed and open", "exec 3>$TMPDIR/x; rm $TMPDIR/x; while :; do head -c 100000 /dev/zero >&3 || sleep 0.01; done", "MiB, more than the "},
				{"deep", "cd $TMPDIR; i=0; while [ $i -lt 250 ]; do mkdir d; cd d; i=$((i+1)); done; " + slowly + "fill f", "below more than 200 directories"},
				{"links", slowly + "cd $TMPDIR; echo x >a; i=0; while [ $i -lt 200 ]; do ln a a$i; i=$((i+1)); done; fill f", "MiB, more than the "},
				{"cache", slowly + "fill $XDG_CACHE_HOME/f", "the cached files of its workspace took "},
				{"cache, ends by itself", "head -c 40000000 /dev/zero >$XDG_CACHE_HOME/x; exit 5", "the cached files of its workspace took "},
				{"ends by itself", "head -c 40000000 /dev/zero >$TMPDIR/x; exit 5", "MiB, more than the "},
			} {
				if mode == sandbox.Landlock && c.name != "bytes" && c.name != "removed and open" && c.name != "cache" {
					continue // There /tmp is the same directory.
				}
				t.Run(c.name, func(t *testing.T) { fillTemp(t, adjust, c.command, c.says) })
			}
		})
	}
}

func fillTemp(t *testing.T, adjust func(*setup), command, says string) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m,nr_inodes=4000"); err != nil {
		t.Skip("mount:", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	caches := filepath.Join(disk, "caches")
	b, err := openBench(t.TempDir(), filepath.Join(disk, "spool"), adjust, func(c *setup) { c.Caches = &scratch.Caches{Dir: caches} })
	if err != nil {
		t.Fatal(err)
	}
	b.t = t
	defer b.fs.Close()

	// The other pods.
	var over atomic.Bool
	var others sync.WaitGroup
	others.Go(func() {
		pace := time.NewTicker(5 * time.Millisecond) // A loop without one takes a processor.
		defer pace.Stop()
		for ; !over.Load(); <-pace.C {
			if err := os.WriteFile(filepath.Join(disk, "other"), make([]byte, 64<<10), 0o600); err != nil {
				t.Errorf("another pod: %v", err)
				return
			}
			_ = os.Remove(filepath.Join(disk, "other"))
		}
	})
	out := b.call("shell", object("command", command, "timeout_seconds", 15))
	over.Store(true)
	others.Wait()
	if !strings.Contains(out.Summary, says) || !strings.Contains(out.Summary, "removed") {
		t.Errorf("it says %q", out.Summary)
	}
	mounted, _, _ := strings.Cut(strings.TrimPrefix(disk, "/tmp/"), "/") // The cache is below it in the command's /tmp.
	for _, pattern := range []string{filepath.Join(b.spool, "tmp", "*"), caches + "/*/files/*"} {
		left, err := filepath.Glob(pattern)
		left = slices.DeleteFunc(left, func(path string) bool { return filepath.Base(path) == mounted })
		if err != nil || len(left) > 0 {
			t.Errorf("%d files are left at %s, %v", len(left), pattern, err)
		}
	}
	// The next command has a normal /tmp, and what it leaves stays.
	for _, command := range []string{"head -c 10000000 /dev/zero >$TMPDIR/a && echo ok >$TMPDIR/b", "stat -c %s $TMPDIR/a && cat $TMPDIR/b"} {
		if out = b.call("shell", object("command", command)); out.IsError {
			t.Errorf("the next one: %s %s", out.Summary, out.Content)
		}
	}
	if out.Content != "10000000\nok\n" {
		t.Errorf("what it left: %q", out.Content)
	}
}
