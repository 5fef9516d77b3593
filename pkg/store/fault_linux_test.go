package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

var platformHelpers = map[string]func(ctx context.Context, path string) error{
	"fillTmpfs": helperFillTmpfs,
	"unsure":    helperUnsure,
}

// TestFileSizeLimit covers a limit at which the file cannot grow; here writing pages runs
// out of space.
func TestDiskFull(t *testing.T) {
	cmd := helper(t, "fillTmpfs", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.HasPrefix(string(out), "error: mount") {
		t.Skipf("a small file system needs a user namespace: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("the helper failed: %v\n%s", err, out)
	}
	wantFilled(t, "", string(out))
}

// helperFillTmpfs fills a small file system, then removes a ballast from it.
func helperFillTmpfs(ctx context.Context, dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32m"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	ballast := filepath.Join(dir, "ballast")
	return fillUp(ctx, filepath.Join(dir, "podd.db"),
		func() error { return os.WriteFile(ballast, make([]byte, 16<<20), 0o600) },
		func() error { return os.Remove(ballast) })
}

// After a failed sync it is unknown whether the commit is durable. The store fails: it
// answers no further call. At the next start everything acknowledged exists, possibly
// with the entry of unknown outcome after it.
func TestFailedSync(t *testing.T) {
	atSync(t, "EIO", func(t *testing.T, out string, got int) {
		var acknowledged int
		if _, err := fmt.Sscanf(out, "failed after %d\n", &acknowledged); err != nil {
			t.Fatalf("the helper says %q", out)
		}
		if got < acknowledged || got > acknowledged+1 {
			t.Fatalf("the log has %d entries; %d were acknowledged", got, acknowledged)
		}
	})
}

// A sync that runs out of space before the commit is valid gives NO_SPACE, and the entry
// does not exist. After that point the outcome is unknown, and the store fails.
func TestSyncWithoutSpace(t *testing.T) {
	atSync(t, "ENOSPC", func(t *testing.T, out string, got int) {
		var acknowledged int
		if _, err := fmt.Sscanf(out, "full after %d\n", &acknowledged); err == nil {
			if got != acknowledged {
				t.Fatalf("the log has %d entries; %d were acknowledged and no other written", got, acknowledged)
			}
			return
		}
		if _, err := fmt.Sscanf(out, "failed after %d\n", &acknowledged); err != nil {
			t.Fatalf("the helper says %q", out)
		}
		if got < acknowledged || got > acknowledged+1 {
			t.Fatalf("the log has %d entries; %d were acknowledged", got, acknowledged)
		}
	})
}

// atSync runs a helper that appends, makes one of its syncs fail, and returns the
// helper's output and the number of entries in the log at the next start.
func atSync(t *testing.T, errno string, check func(t *testing.T, out string, got int)) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace makes a sync fail, and is not installed")
	}
	// A commit syncs before and after it writes the page that makes it valid. Go may run the
	// two on different threads, and strace counts for each thread: several numbers hit both.
	// The first syncs are those of the migrations that make the database.
	for when := 16; when < 24; when++ {
		t.Run(fmt.Sprint(when), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "podd.db")
			cmd := helper(t, "unsure", path, "strace", "-f", "-qq", "-o", filepath.Join(t.TempDir(), "strace"),
				"-e", "trace=fdatasync", "-e", fmt.Sprintf("inject=fdatasync:error=%s:when=%d", errno, when))
			out, err := cmd.Output()
			if err != nil && len(out) == 0 {
				t.Skipf("strace cannot trace here: %v", err)
			}
			got, err := texts(t.Context(), open(t, path), "p")
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d entries, the helper says %q", len(got), out)
			check(t, string(out), len(got))
		})
	}
}

// helperUnsure appends until the store refuses, and checks the rules.
func helperUnsure(ctx context.Context, path string) error {
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		return err
	}
	if err := s.CreatePod(ctx, item.Pod{ID: "p", Name: "p"}); err != nil {
		return err
	}
	epoch, err := s.Claim(ctx, "p")
	if err != nil {
		return err
	}
	acknowledged := 0
	for ; err == nil && acknowledged < 1000; acknowledged++ {
		err = appendNotes(ctx, s, "p", epoch, fmt.Sprint(acknowledged))
	}
	acknowledged--
	if item.ReasonOf(err) == store.ReasonNoSpace {
		fmt.Println("full after", acknowledged)
		return s.Close()
	}
	if err := wantFailed(ctx, s, epoch, err); err != nil {
		return err
	}
	fmt.Println("failed after", acknowledged)
	return s.Close()
}

// wantFailed checks that err is that of a failed store, and that the store stays failed.
func wantFailed(ctx context.Context, s *store.Bolt, epoch store.Epoch, err error) error {
	_, readErr := s.Read(ctx, "p", 0, 1)
	for what, err := range map[string]error{
		"the first":  err,
		"a further":  appendNotes(ctx, s, "p", epoch, "x"),
		"a creation": s.CreatePod(ctx, item.Pod{ID: "q", Name: "q"}),
		"a read":     readErr,
	} {
		if item.KindOf(err) != item.KindUnavailable || item.ReasonOf(err) != store.ReasonFailed {
			return fmt.Errorf("%s: %w, want reason %s", what, err, store.ReasonFailed)
		}
	}
	select {
	case <-s.Failed():
		return nil
	default:
		return errors.New("Failed is not closed")
	}
}

// Writes that fail for another reason than space make the store fail as well, and closing
// it still releases the file.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	s := openUnchecked(t, path)
	epoch := newPod(t, s, "p")
	mustAppend(t, s, "p", epoch, "one")
	makeReadOnly(t, path)
	err := appendNotes(t.Context(), s, "p", epoch, "two")
	if err := wantFailed(t.Context(), s, epoch, err); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	wantTexts(t, open(t, path), "p", "one")
}

// makeReadOnly replaces this process's descriptor of a file by a read-only one.
func makeReadOnly(t *testing.T, path string) {
	t.Helper()
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var fd int
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if _, scanErr := fmt.Sscan(e.Name(), &fd); err != nil || scanErr != nil || target != path || fd == int(readOnly.Fd()) {
			continue
		}
		if err := syscall.Dup3(int(readOnly.Fd()), fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no descriptor of %s", path)
}
