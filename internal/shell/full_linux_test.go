package shell_test

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

	"podd/pkg/tool"
)

const fullVariable = "PODD_TEST_FULL"

// With the spool's disk full a running command continues and its status is kept, because
// the slot of the record was filled before; another one is not started.
func TestShellWithAFullSpool(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), fullVariable+"=1", spoolVariable+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.HasPrefix(string(out), "mount: ") {
		t.Skipf("a small file system needs a user namespace: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("the helper failed: %v\n%s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "true shell: ") || !strings.Contains(lines[0], ", exit 7, ") {
		t.Fatalf("live: %q", out)
	}
	if lines[1] != lines[0] {
		t.Errorf("recovered: %s\nlive:      %s", lines[1], lines[0])
	}
	if !strings.Contains(lines[2], "was not run") || lines[3] != "ran: false" || lines[4] != "files: 2" {
		t.Errorf("with a full disk: %q", lines[2:])
	}
}

func fullMain() error {
	dir := os.Getenv(spoolVariable)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		fmt.Println("mount:", err)
		return err
	}
	workspace, err := os.Getwd()
	if err != nil {
		return err
	}
	b, err := openBench(workspace, dir, quickly)
	if err != nil {
		return err
	}
	sh, _ := b.tools.Lookup("shell")
	filling := object("command", "head -c 3000000 /dev/zero | tr '\\0' '\\n'; : >ready; exit 7")
	call := with(theCall, filling)
	call.Later = func(func()) {}
	out, err := sh.Run(context.Background(), call)
	if err != nil {
		return err
	}
	fmt.Println(out.IsError, out.Summary)
	out, _, err = sh.Recover(context.Background(), call)
	fmt.Println(out.IsError, out.Summary)
	if err != nil {
		return err
	}
	_, err = sh.Run(context.Background(), &tool.Invocation{CallID: "2", Later: call.Later, Arguments: object("command", ": >ran")})
	fmt.Println(err)
	_, missing := os.Stat("ran")
	fmt.Println("ran:", missing == nil)
	files, err := filepath.Glob(filepath.Join(b.spool, "*"))
	fmt.Println("files:", len(files))
	return err
}
