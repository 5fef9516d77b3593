package builtin

import (
	"crypto/rand"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// markVariable is in the environment of a command and of all that it starts.
const markVariable = "PODD_COMMAND"

// How long a process that does not end may hold up its command's result, after
// SIGKILL, and how often one that is ending is looked for.
const (
	killPatience = 2 * time.Second
	killPoll     = 2 * time.Millisecond
)

// processes is a running command and all that it started.
//
// The command leads a session of its own. On Linux stop also finds what left that
// session (setsid, a double fork), by a mark in the environment. Not found is what
// left the session and also changed its environment, and what runs as another
// user; elsewhere than on Linux, what left the process group.
type processes struct {
	cmd *exec.Cmd
	// mark is NAME=value, unlike that of any other command.
	mark string
	// exited is closed when the leader has ended and cmd.ProcessState is set.
	exited chan struct{}
}

// start runs a command; stop must follow. It starts one goroutine, which ends with
// the leader.
func start(cmd *exec.Cmd) (*processes, error) {
	p := &processes{cmd: cmd, mark: markVariable + "=" + rand.Text(), exited: make(chan struct{})}
	cmd.Env = append(cmd.Env, p.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		// The outcome is in ProcessState.
		_ = cmd.Wait()
	}()
	return p, nil
}

// pause and resume hold the command while its output is read; what left the
// group goes on.
func (p *processes) pause()  { p.signalGroup(syscall.SIGSTOP) }
func (p *processes) resume() { p.signalGroup(syscall.SIGCONT) }

func (p *processes) signalGroup(sig syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig)
}

// stop ends whatever still runs: politely first, and after grace by SIGKILL. It
// waits for the end and says how many processes remain; above 0 only where the
// kernel does not let one go.
func (p *processes) stop(grace time.Duration) (left int) {
	if p.gone() {
		return 0
	}
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT)
	if p.goneWithin(grace) {
		return 0
	}
	for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); {
		// Again and again: what forks in between is found by the next round.
		p.signal(syscall.SIGKILL)
		if p.goneWithin(10 * killPoll) {
			return 0
		}
	}
	return len(p.members())
}

// signal reaches the group at once, so that nothing in it can fork away, and then
// what left it.
func (p *processes) signal(sig syscall.Signal) {
	if p.groupAlive() {
		p.signalGroup(sig)
	}
	for _, pid := range p.members() {
		// On Linux this holds the process itself, so that a recycled pid is not hit.
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if p.owns(pid) {
			_ = process.Signal(sig)
		}
		_ = process.Release()
	}
}

func (p *processes) goneWithin(wait time.Duration) bool {
	poll := time.NewTicker(killPoll)
	defer poll.Stop()
	for deadline := time.Now().Add(wait); ; {
		if p.gone() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		<-poll.C
	}
}

func (p *processes) gone() bool {
	select {
	case <-p.exited:
		return len(p.members()) == 0
	default:
		return false
	}
}

// groupAlive says whether the group has a process. The leader's pid is not given
// to another process while it has.
func (p *processes) groupAlive() bool {
	return syscall.Kill(-p.cmd.Process.Pid, 0) == nil
}
