package process

import (
	"crypto/rand"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// markVariable is in the environment of a command and of all that it starts.
const markVariable = "PODD_COMMAND"

// How long a process that does not end may hold up Stop, after SIGKILL, and how often
// one that is ending is looked for.
const (
	killPatience = 2 * time.Second
	killPoll     = 2 * time.Millisecond
)

// Tree is a running command and all that it started.
type Tree struct {
	cmd *exec.Cmd
	// mark is NAME=value, unlike that of any other command.
	mark   string
	exited chan struct{}
}

// Start runs a command as the leader of a tree; Stop must follow. It sets the
// command's SysProcAttr and waits for it. The environment is cmd.Env and the mark,
// never this process's own.
func Start(cmd *exec.Cmd) (*Tree, error) {
	t := &Tree{cmd: cmd, mark: markVariable + "=" + rand.Text(), exited: make(chan struct{})}
	cmd.Env = append(slices.Clone(cmd.Env), t.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(t.exited)
		// The outcome is in ProcessState.
		_ = cmd.Wait()
	}()
	return t, nil
}

// Exited is closed when the leader has ended and State says how.
func (t *Tree) Exited() <-chan struct{} { return t.exited }

// State says how the leader ended; nil while it runs.
func (t *Tree) State() *os.ProcessState {
	select {
	case <-t.exited:
		return t.cmd.ProcessState
	default:
		return nil
	}
}

// Pause holds the tree until Resume; what left the process group goes on.
func (t *Tree) Pause() { t.signalGroup(syscall.SIGSTOP) }

// Resume undoes Pause.
func (t *Tree) Resume() { t.signalGroup(syscall.SIGCONT) }

func (t *Tree) signalGroup(sig syscall.Signal) {
	_ = syscall.Kill(-t.cmd.Process.Pid, sig)
}

// Stop ends whatever still runs: politely first, and after grace by SIGKILL. It
// waits for the end and says how many processes remain; above 0 only where the
// kernel does not let one go.
func (t *Tree) Stop(grace time.Duration) (left int) {
	if t.gone() {
		return 0
	}
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT)
	if t.goneWithin(grace) {
		return 0
	}
	for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); {
		// Again and again: what forks in between is found by the next round.
		t.signal(syscall.SIGKILL)
		if t.goneWithin(10 * killPoll) {
			return 0
		}
	}
	return len(t.members())
}

// signal reaches the group at once, so that nothing in it can fork away, and then
// what left it.
func (t *Tree) signal(sig syscall.Signal) {
	if t.groupAlive() {
		t.signalGroup(sig)
	}
	for _, pid := range t.members() {
		// On Linux this holds the process itself, so that a recycled pid is not hit.
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if t.owns(pid) {
			_ = process.Signal(sig)
		}
		_ = process.Release()
	}
}

func (t *Tree) goneWithin(wait time.Duration) bool {
	poll := time.NewTicker(killPoll)
	defer poll.Stop()
	for deadline := time.Now().Add(wait); ; {
		if t.gone() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		<-poll.C
	}
}

func (t *Tree) gone() bool {
	select {
	case <-t.exited:
		return len(t.members()) == 0
	default:
		return false
	}
}

// groupAlive says whether the group has a process. The leader's pid is not given
// to another process while it has.
func (t *Tree) groupAlive() bool {
	return syscall.Kill(-t.cmd.Process.Pid, 0) == nil
}
