package process_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/process"
)

// orphan makes a child process start a tree and exit, as a killed podd does. It returns
// the tree's id and directory.
func orphan(t *testing.T, script string) (id process.ID, dir string) {
	t.Helper()
	dir = t.TempDir()
	parent := exec.Command(os.Args[0])
	parent.Dir, parent.Stderr = dir, os.Stderr
	parent.Env = append(os.Environ(), "PODD_TEST_START="+script)
	// The child kills itself, which Run reports as an error.
	out, _ := parent.Output()
	if err := json.Unmarshal(out, &id); err != nil {
		t.Fatal(err)
	}
	return id, dir
}

// startAndDie is the main function of orphan's child.
func startAndDie(script string) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	tree, err := process.Start(cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(tree.ID()); err != nil {
		os.Exit(1)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func ended(tree *process.Tree) bool {
	select {
	case <-tree.Exited():
		return true
	default:
		return false
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, script string
		runs         bool
	}{
		{"runs", "echo $$ >pid; sleep 600; exit 1", true},
		{"left children", "sleep 600 & echo $! >pid", false},
		{"left the session", "setsid sh -c 'echo $$ >pid; exec sleep 600' & while ! [ -s pid ]; do :; done", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "left the session" && runtime.GOOS != "linux" {
				t.Skip("only Linux finds what left the process group")
			}
			id, dir := orphan(t, c.script)
			pid := pidIn(t, dir)
			tree := process.Find(id)
			if !c.runs {
				<-tree.Exited()
			} else if ended(tree) {
				t.Error("the leader runs, and its tree reports its end")
			}
			if !alive(pid) {
				t.Fatal("nothing is left to end")
			}
			if left := tree.Stop(grace); left != 0 || alive(pid) {
				t.Errorf("%d remain; process %d alive: %v", left, pid, alive(pid))
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			<-tree.Exited()
			if tree.State() != nil || tree.ID() != id {
				t.Errorf("state %v, id %+v", tree.State(), tree.ID())
			}
		})
	}
}

// If the leader is unknown, the mark alone says which processes belong to a tree.
func TestFindByTheMark(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds what left the process group")
	}
	id, dir := orphan(t, "setsid sh -c 'echo $$ >pid; exec sleep 600' & sleep 600")
	pid := pidIn(t, dir)
	other, otherDir := start(t, "echo $$ >pid; sleep 600")
	otherPID := pidIn(t, otherDir)
	defer other.Stop(grace)
	tree := process.Find(process.ID{Mark: id.Mark})
	<-tree.Exited()
	tree.Pause()
	if left := tree.Stop(grace); left != 0 || alive(pid) || alive(id.PID) {
		t.Errorf("%d remain; alive: %v, %v", left, alive(pid), alive(id.PID))
	}
	if !alive(otherPID) {
		t.Error("another tree was ended")
	}
	if left := process.Find(process.ID{Mark: id.Mark}).Kill(); left != 0 {
		t.Errorf("%d remain", left)
	}
}

// Process ids wrap around: a process of the tree may have a lower one than the leader.
func TestStopFindsLowerPids(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux finds what left the process group")
	}
	id, dir := orphan(t, "setsid sh -c 'echo $$ >pid; exec sleep 600' & while ! [ -s pid ]; do :; done")
	pid := pidIn(t, dir)
	<-process.Find(id).Exited()
	// The same tree with a leader that has a higher process id and started at boot.
	later := exec.Command("true")
	if err := later.Run(); err != nil {
		t.Fatal(err)
	}
	id.PID, id.Born = later.Process.Pid, id.Born[:strings.LastIndex(id.Born, "-")]+"-1"
	if left := process.Find(id).Stop(grace); left != 0 || alive(pid) {
		t.Errorf("%d remain; process %d below the leader's pid %d is alive: %v", left, pid, id.PID, alive(pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestFindSeesTheEnd(t *testing.T) {
	id, dir := orphan(t, "echo $$ >pid; while ! [ -e go ]; do sleep 0.01; done")
	pidIn(t, dir)
	tree := process.Find(id)
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-tree.Exited()
	tree.Stop(grace)
}

// A process id that the system has reused since, or that is from another boot, is not the
// tree's. Stop touches neither its group nor its session.
func TestFindLeavesARecycledPidAlone(t *testing.T) {
	other, dir := start(t, "sleep 600 & echo $! >pid; wait")
	pid := pidIn(t, dir)
	for _, born := range []string{"", "another boot-1", other.ID().Born + "0"} {
		id := other.ID()
		id.Born, id.Mark = born, "PODD_COMMAND=other"
		tree := process.Find(id)
		if !ended(tree) {
			t.Errorf("born %q: the leader seems to run", born)
		}
		tree.Pause()
		if left := tree.Stop(time.Millisecond); left != 0 || !alive(pid) {
			t.Errorf("born %q: %d remain; alive: %v", born, left, alive(pid))
		}
	}
	if ended(other) {
		t.Error("another tree was ended")
	}
}
