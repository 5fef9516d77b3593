package process_test

import (
	"bytes"
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
)

const grace = 100 * time.Millisecond

// start runs a script in its own directory and discards its output.
func start(t *testing.T, script string) (tree *process.Tree, dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	tree, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Stop(grace) })
	return tree, dir
}

// waitFor waits until a script has written a line to a file, and returns it.
func waitFor(t *testing.T, path string) string {
	t.Helper()
	for t.Context().Err() == nil {
		if text, err := os.ReadFile(path); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			return strings.TrimSpace(string(text))
		}
		runtime.Gosched()
	}
	return ""
}

func pidIn(t *testing.T, dir string) int {
	t.Helper()
	pid, err := strconv.Atoi(waitFor(t, filepath.Join(dir, "pid")))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive says whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil && runtime.GOOS != "linux" || err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestStateSaysHowTheLeaderEnded(t *testing.T) {
	tree, _ := start(t, "exit 3")
	<-tree.Exited()
	if state := tree.State(); state == nil || state.ExitCode() != 3 {
		t.Errorf("state %v", state)
	}
	if left := tree.Stop(grace); left != 0 {
		t.Errorf("%d processes remain", left)
	}
	if _, err := process.Start(exec.Command("/no/such/program")); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestTheEnvironmentIsTheCommandsOwn(t *testing.T) {
	t.Setenv("PODD_TEST_SECRET", "x")
	for _, env := range [][]string{nil, {"A=1"}} {
		var out bytes.Buffer
		cmd := exec.Command("/usr/bin/env")
		cmd.Env, cmd.Stdout = env, &out
		tree, err := process.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		<-tree.Exited()
		tree.Stop(grace)
		if got := strings.Count(out.String(), "\n"); got != len(env)+1 {
			t.Errorf("with %v the environment is\n%s", env, out.String())
		}
	}
}

func TestStopEndsTheWholeTree(t *testing.T) {
	for _, c := range []struct {
		name, script string
		onlyLinux    bool
	}{
		{"child", "sleep 600 & echo $! >pid; wait", false},
		{"ignores SIGTERM", `trap '' TERM; sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.05; done'`, false},
		{"stopped", "echo $$ >pid; kill -STOP $$; sleep 600", false},
		{"leader has ended", "sleep 600 & echo $! >pid", false},
		{"setsid", "setsid sh -c 'echo $$ >pid; sleep 600' & sleep 600", true},
		{"double fork", "(setsid sh -c '(sh -c \"echo \\$\\$ >pid; exec sleep 600\" &)' &); sleep 600", true},
		{"closed its output", "setsid sh -c 'exec <&- >&- 2>&-; echo $$ >pid; exec sleep 600'", true},
		{"setsid, cleared environment", "env -i setsid sh -c 'echo $$ >pid; exec sleep 600' & sleep 600", true},
		{"setsid, cleared environment, ignores SIGTERM", "env -i setsid sh -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 0.05; done' & sleep 600", true},
		{"leaves its session on SIGTERM", `sh -c 'trap "exec env -i setsid sleep 600" TERM; echo $$ >pid; while :; do sleep 0.01; done' & sleep 600`, true},
		{"cleared environment", "env -i sh -c 'echo $$ >pid; exec sleep 600'", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.onlyLinux && runtime.GOOS != "linux" {
				t.Skip("only Linux finds what left the process group")
			}
			tree, dir := start(t, c.script)
			pid := pidIn(t, dir)
			left := tree.Stop(grace)
			if left != 0 || alive(pid) {
				t.Errorf("%d remain; process %d alive: %v", left, pid, alive(pid))
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			<-tree.Exited()
		})
	}
}

func TestStopIsPoliteFirst(t *testing.T) {
	tree, dir := start(t, "trap 'echo bye >bye; exit' TERM; echo $$ >pid; while :; do sleep 0.01; done")
	pidIn(t, dir)
	tree.Stop(time.Minute)
	if said := waitFor(t, filepath.Join(dir, "bye")); said != "bye" {
		t.Errorf("said %q", said)
	}
}

func TestStopLeavesOthersAlone(t *testing.T) {
	other, dir := start(t, "echo $$ >pid; sleep 600")
	pid := pidIn(t, dir)
	tree, _ := start(t, "sleep 600 & setsid sleep 600 & sleep 600")
	tree.Stop(grace)
	if !alive(pid) {
		t.Error("another tree was ended")
	}
	other.Stop(grace)
}

// The process that starts commands, and what it has not made a command yet, belong to no tree,
// whatever their environment has.
func TestLeadIsInNoTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds what left the process group")
	}
	for _, apart := range []bool{false, true} {
		tree, _ := start(t, "sleep 600")
		dir := t.TempDir()
		helper := exec.Command("sh", "-c", "sleep 600 & echo $! >pid; wait")
		helper.Dir, helper.Env = dir, []string{tree.ID().Mark, "PATH=" + os.Getenv("PATH")}
		helper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := helper.Start(); err != nil {
			t.Fatal(err)
		}
		if apart {
			defer process.Lead(helper.Process.Pid)()
		}
		child := pidIn(t, dir)
		tree.Stop(grace)
		if got := alive(helper.Process.Pid) && alive(child); got != apart {
			t.Errorf("with Lead %v: alive %v", apart, got)
		}
		_ = syscall.Kill(-helper.Process.Pid, syscall.SIGKILL)
		_ = helper.Wait()
	}
}

func TestPauseHoldsTheTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the state of a process is read from /proc")
	}
	tree, dir := start(t, "sh -c 'echo $$ >pid; while :; do :; done'; exit 1")
	pid := pidIn(t, dir)
	stopped := func() bool {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return strings.Contains(string(stat), ") T ")
	}
	tree.Pause()
	for !stopped() && t.Context().Err() == nil {
		runtime.Gosched()
	}
	tree.Resume()
	for stopped() && t.Context().Err() == nil {
		runtime.Gosched()
	}
}
