package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"podd/internal/commands/process"
)

// limitedTo makes a control group with a limit of tasks, below that of this process.
func limitedTo(t *testing.T, tasks int) (dir string) {
	t.Helper()
	dir = filepath.Join("/sys/fs/cgroup/pids", "podd-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "pids.max"), []byte(strconv.Itoa(tasks)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Commands have a group of their own, whose limit leaves some tasks to podd.
func TestCommandGroup(t *testing.T) {
	dir := limitedTo(t, 200)
	// The process joins before it looks for its group, as one that a service manager starts.
	cmd := exec.Command("sh", "-c", "echo $$ > "+filepath.Join(dir, process.GroupMembers)+"; exec "+os.Args[0])
	cmd.Env = append(os.Environ(), "PODD_TEST_GROUP=1")
	out, err := cmd.CombinedOutput()
	if want := filepath.Join(dir, "podd-commands") + " 124 124 false"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "podd-commands")); len(left) > 0 {
		t.Error("the group stays")
	}
}
