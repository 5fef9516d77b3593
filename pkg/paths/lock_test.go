package paths_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/paths"
)

func TestLockStateDir(t *testing.T) {
	dir := t.TempDir()
	lock, err := paths.LockStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = paths.LockStateDir(dir)
	wantError(t, err, item.KindPrecondition, "HELD",
		fmt.Sprintf("another podd (pid %d) is using the state directory %s", os.Getpid(), dir), "--state-dir")
	if got := mode(t, filepath.Join(dir, "podd.lock")); got != 0o600 {
		t.Errorf("mode %04o, want 0600", got)
	}

	lock.Release()
	if text, err := os.ReadFile(filepath.Join(dir, "podd.lock")); err != nil || len(text) > 0 {
		t.Errorf("a released lock names %q, %v", text, err)
	}
	again, err := paths.LockStateDir(dir)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	again.Release()
}

func TestLockSocketLiesBesideIt(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s.sock")
	lock, err := paths.LockSocket(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := os.Stat(socket + ".lock"); err != nil {
		t.Error(err)
	}
	_, err = paths.LockSocket(socket)
	wantError(t, err, item.KindPrecondition, "HELD", "is using the socket "+socket, "--socket")
}

// A child that a killed podd has just forked keeps the lock for a moment: podd waits for
// it.
func TestLockOfAnEndedPoddIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "podd.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(file, ended.Process.Pid)
	heir := exec.Command("sleep", "0.1")
	heir.ExtraFiles = []*os.File{file}
	if err := heir.Start(); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	lock, err := paths.LockStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
	if err := heir.Wait(); err != nil {
		t.Fatal(err)
	}
}

// The lock of a killed podd is free and names no process.
func TestLockEndsWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdVariable+"="+dir)
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}

	_, err = paths.LockStateDir(dir)
	wantError(t, err, item.KindPrecondition, "HELD", fmt.Sprintf("another podd (pid %d)", other.Process.Pid))

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	lock, err := paths.LockStateDir(dir)
	if err != nil {
		t.Fatalf("after the other was killed: %v", err)
	}
	defer lock.Release()
	_, err = paths.LockStateDir(dir)
	wantError(t, err, item.KindPrecondition, "HELD", fmt.Sprintf("(pid %d)", os.Getpid()))
}

func TestLockWithoutAnIDNamesNobody(t *testing.T) {
	dir := t.TempDir()
	lock, err := paths.LockStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	for _, text := range []string{"", "no number", "-3"} {
		if err := os.WriteFile(filepath.Join(dir, "podd.lock"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = paths.LockStateDir(dir)
		wantError(t, err, item.KindPrecondition, "HELD", "another podd is using")
	}
}

func TestLockInAMissingDirectory(t *testing.T) {
	_, err := paths.LockStateDir(filepath.Join(t.TempDir(), "gone"))
	wantError(t, err, item.KindPrecondition, "LOCK", "no such file or directory")
}
