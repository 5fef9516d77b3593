package sandbox

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// prepareIn makes this program prepare namespaces, whose options name a directory, and wait.
const prepareIn = "PODD_TEST_PREPARE"

func init() { //nolint:gochecknoinits // TestMain is in the other package of this directory.
	dir := os.Getenv(prepareIn)
	if dir == "" {
		return
	}
	_, _ = os.Stdout.WriteString("x")
	s := &Sandbox{program: "bwrap"}
	_, _ = s.prepare([]string{"--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--setenv", "DIR", dir}, nil)
	select {}
}

// A podd that is killed while bwrap prepares namespaces leaves no process of bwrap behind.
func TestKilledWhilePreparing(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").Run(); err != nil {
		t.Skip("bwrap does not work here: ", err)
	}
	dir := t.TempDir()
	for range 60 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = []string{prepareIn + "=" + dir, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			t.Fatal("the program does not start: ", err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(6000)) * time.Microsecond) // The moment of the kill.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	end := time.Now().Add(10 * time.Second)
	for left := bwraps(t, dir); len(left) > 0; left = bwraps(t, dir) {
		if time.Now().After(end) {
			t.Fatalf("processes %q are left", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// bwraps are the processes whose arguments name a directory.
func bwraps(t *testing.T, dir string) (left []string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(dir)) {
			left = append(left, name)
		}
	}
	return left
}
