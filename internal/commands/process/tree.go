package process

import (
	"crypto/rand"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// markVariable is in the environment of a command and of all that it starts.
const markVariable = "PODD_COMMAND"

// How long a process that does not end may hold up Stop, after SIGKILL, and how often
// one that is ending is looked for.
const (
	killPatience = 2 * time.Second
	// pipePatience is for how long output is read after the leader has ended.
	pipePatience = 5 * time.Second
	killPoll     = 2 * time.Millisecond
)

// leaders are the pids, as text, of the leaders that this process has started or adopted
// and that were not waited for.
var leaders sync.Map

// Tree is a running command and all that it started.
type Tree struct {
	id ID
	// cmd is nil for a tree that another process started.
	cmd *exec.Cmd
	// exited is closed once the leader is known to have ended.
	exited chan struct{}
	// leave ends the watch of a tree that was found.
	leave func()
	seen  sightings
}

// Start runs a command as the leader of a tree; Stop must follow. It sets the
// command's SysProcAttr, and its WaitDelay where there is none, and waits for it. The
// environment is cmd.Env and the mark,
// never this process's own.
func Start(cmd *exec.Cmd) (*Tree, error) {
	t := &Tree{cmd: cmd, exited: make(chan struct{}), leave: func() {}}
	t.id.Mark = markVariable + "=" + rand.Text()
	cmd.Env = append(slices.Clone(cmd.Env), t.id.Mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.WaitDelay == 0 {
		// What the leader leaves behind may hold its pipes for ever.
		cmd.WaitDelay = pipePatience
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.id.PID = cmd.Process.Pid
	forget := lead(t.id.PID)
	// Nobody else waits for the leader yet: also one that has ended is still listed.
	t.id.Born, _ = look(t.id.PID)
	go func() {
		defer close(t.exited)
		// From the end of Wait on the pid can be another's.
		defer forget()
		// The outcome is in ProcessState.
		_ = cmd.Wait()
	}()
	return t, nil
}

// lead notes a leader until forget is called.
func lead(pid int) (forget func()) {
	session := strconv.Itoa(pid)
	leaders.Store(session, nil)
	return func() { leaders.Delete(session) }
}

// Adopt is the tree of a leader that another process waits for; Stop must follow. ended
// is for when that process says that the leader has ended, and must be called.
func Adopt(id ID) (t *Tree, ended func()) {
	t = &Tree{id: id, exited: make(chan struct{}), leave: func() {}}
	forget := lead(id.PID)
	return t, sync.OnceFunc(func() {
		forget()
		close(t.exited)
	})
}

// Find is the tree that a process since ended started; Stop must follow. Its leader may
// have ended too: then Exited is closed, and Stop ends what is left.
func Find(id ID) *Tree {
	t := &Tree{id: id, exited: make(chan struct{})}
	left := make(chan struct{})
	t.leave = sync.OnceFunc(func() { close(left) })
	if id.gone() {
		close(t.exited)
		return t
	}
	go func() {
		defer close(t.exited)
		id.Await(left)
	}()
	return t
}

// Exited is closed when the leader has ended.
func (t *Tree) Exited() <-chan struct{} { return t.exited }

// State says how the leader ended; nil while it runs, and for a tree that Find gave.
func (t *Tree) State() *os.ProcessState {
	select {
	case <-t.exited:
		if t.cmd != nil {
			return t.cmd.ProcessState
		}
	default:
	}
	return nil
}

// Pause holds the tree until Resume; what left the process group goes on.
func (t *Tree) Pause() { t.signalGroup(syscall.SIGSTOP) }

// Resume undoes Pause.
func (t *Tree) Resume() { t.signalGroup(syscall.SIGCONT) }

func (t *Tree) signalGroup(sig syscall.Signal) {
	if !t.recycled() {
		_ = syscall.Kill(-t.id.PID, sig)
	}
}

// Stop ends whatever still runs: politely first, and after grace by SIGKILL. It
// waits for the end and says how many processes remain; above 0 only where the
// kernel does not let one go.
func (t *Tree) Stop(grace time.Duration) (left int) {
	defer t.leave()
	if t.gone() {
		return 0
	}
	t.follow()
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT)
	if t.goneWithin(grace) {
		return 0
	}
	for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); {
		// Again and again: what forks in between is found by the next round.
		t.follow()
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
	// What is ending already, as the inside of a sandbox is, is gone in no time.
	pause := killPoll / 16
	for deadline := time.Now().Add(wait); ; {
		if t.gone() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		time.Sleep(pause)
		pause = min(2*pause, killPoll)
	}
}

func (t *Tree) gone() bool { return t.leaderGone() && len(t.members()) == 0 }

// leaderGone says whether the leader has ended and, as a child, was waited for.
func (t *Tree) leaderGone() bool {
	select {
	case <-t.exited:
		return true
	default:
		return t.cmd == nil && t.id.gone()
	}
}

// recycled says whether the leader's pid is another process's now. The system gives it
// to none while it is the id of a group or session with members.
func (t *Tree) recycled() bool {
	if !t.leaderGone() {
		return false
	}
	born, _ := look(t.id.PID)
	return born != "" && born != t.id.Born
}

// groupAlive says whether the group has a process.
func (t *Tree) groupAlive() bool {
	return !t.recycled() && syscall.Kill(-t.id.PID, 0) == nil
}
