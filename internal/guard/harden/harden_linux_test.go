package harden_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/guard/harden"
)

// Variables that make this binary, run as a second process, wait with its memory open or
// closed.
const (
	waitOpen   = "HARDEN_TEST_OPEN"
	waitClosed = "HARDEN_TEST_CLOSED"
)

func TestMain(m *testing.M) {
	if os.Getenv(waitClosed) != "" {
		if err := harden.Process(); err != nil {
			fmt.Println(err)
		}
	}
	if os.Getenv(waitOpen)+os.Getenv(waitClosed) != "" {
		core, _ := exec.Command("sh", "-c", "ulimit -S -c; ulimit -H -c; head -c 10 /proc/self/environ").CombinedOutput()
		fmt.Printf("%s.\n", strings.ReplaceAll(string(core), "\n", " "))
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	goleak.VerifyTestMain(m)
}

// Another program of the same user can read the environment of an open process, but not
// that of a closed one. Children of a closed process are open.
func TestProcessIsClosed(t *testing.T) {
	for variable, closed := range map[string]bool{waitOpen: false, waitClosed: true} {
		cmd := exec.Command(os.Args[0])
		if os.Geteuid() == 0 {
			// Root can read everything, so another user has to try.
			cmd = asNobody(t)
		}
		cmd.Env = []string{variable + "=sk-very-secret", "PATH=" + os.Getenv("PATH")}
		cmd.Dir = "/"
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var child [200]byte
		n, _ := stdout.Read(child[:])
		spy := exec.Command("cat", fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
		spy.SysProcAttr = cmd.SysProcAttr
		seen, _ := spy.CombinedOutput()
		if strings.Contains(string(seen), "very-secret") == closed {
			t.Errorf("%s: another program reads %q", variable, seen)
		}
		var limits syscall.Rlimit
		_ = syscall.Getrlimit(syscall.RLIMIT_CORE, &limits)
		fields := strings.Fields(string(child[:n]))
		if closed && (len(fields) < 3 || fields[0] != "0" || strings.Contains(string(child[:n]), "denied")) {
			t.Errorf("the child of a closed process says %q", child[:n])
		}
		if closed && limits.Max != 0 && fields[1] == "0" {
			t.Errorf("the hard limit of the child is gone: %q", fields)
		}
		_ = stdin.Close()
		_ = cmd.Wait()
	}
}

// asNobody runs a copy of this binary that others can execute.
func asNobody(t *testing.T) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "harden") //nolint:usetesting // t.TempDir is closed to others.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "waiter")
	if err := os.WriteFile(path, binary, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, path} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}
