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

// markVariable marks the environment of a command and of everything that it starts.
const markVariable = "PODD_COMMAND"

// How long Stop waits for a process after SIGKILL, and how often it checks whether a
// process that is ending is gone.
const (
	killPatience = 2 * time.Second
	// pipePatience is how long output is read after the leader has ended.
	pipePatience = 5 * time.Second
	killPoll     = 2 * time.Millisecond
)

// leaders are the process ids, as text, of the leaders that this process has started or
// adopted and not yet reaped, and of those that it told Lead about.
var leaders sync.Map

// Tree is a running command and everything that it started.
type Tree struct {
	id ID
	// child says that the leader is a child of this process.
	child bool
	// exited is closed when the leader has ended; then state says how, if it is a child.
	exited chan struct{}
	state  *os.ProcessState
	// leave stops watching a tree that Find returned.
	leave func()
	seen  sightings
}

// Start runs a command as the leader of a tree; Stop must follow. Start makes the
// command a session of its own, sets its WaitDelay if it is zero, and waits for the command. The
// environment is cmd.Env and the mark, never this process's own.
func Start(cmd *exec.Cmd) (*Tree, error) { return newTree().start(cmd) }

// StartNamed is Start for a tree that a later process finds as Named, without having stored its ID.
func StartNamed(cmd *exec.Cmd, name string) (*Tree, error) {
	t := newTree()
	t.id.Mark = Named(name).Mark
	return t.start(cmd)
}

func (t *Tree) start(cmd *exec.Cmd) (*Tree, error) {
	cmd.Env = append(slices.Clone(cmd.Env), t.id.Mark)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	if cmd.WaitDelay == 0 {
		// The leader may leave processes behind that keep its pipes open for ever.
		cmd.WaitDelay = pipePatience
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.follows(cmd.Process.Pid, func() *os.ProcessState {
		// The outcome is in ProcessState.
		_ = cmd.Wait()
		return cmd.ProcessState
	})
	return t, nil
}

// Begin is Start for a child that start makes the leader of a session of its own, with the mark in
// the environment of what it runs.
func Begin(start func(mark string) (*os.Process, error)) (*Tree, error) {
	t := newTree()
	child, err := start(t.id.Mark)
	if err != nil {
		return nil, err
	}
	t.follows(child.Pid, func() *os.ProcessState {
		// Nobody else waits for it.
		state, _ := child.Wait()
		return state
	})
	return t, nil
}

// newTree is a tree without a leader.
func newTree() *Tree {
	t := &Tree{child: true, exited: make(chan struct{}), leave: func() {}}
	t.id.Mark = markVariable + "=" + rand.Text()
	return t
}

// follows waits for a child, the leader.
func (t *Tree) follows(pid int, wait func() *os.ProcessState) {
	t.id.PID = pid
	forget := Lead(pid)
	// Only this process waits for the leader, and it has not yet: look finds a leader that
	// has ended, too.
	t.id.Born, _ = inspect(pid)
	go func() {
		defer close(t.exited)
		// Once wait has returned, the process id can be another process's.
		defer forget()
		t.state = wait()
	}()
}

// Lead says that a process leads a session of its own, so that it and the session belong to no
// other tree, until forget is called.
func Lead(pid int) (forget func()) {
	session := strconv.Itoa(pid)
	leaders.Store(session, nil)
	return func() { leaders.Delete(session) }
}

// leads says whether a process id, as text, is that of a leader.
func leads(pid string) bool {
	_, ok := leaders.Load(pid)
	return ok
}

// Adopt returns the tree of a leader that another process waits for; Stop must follow.
// The caller must call ended when that process reports the leader's end.
func Adopt(id ID) (t *Tree, ended func()) {
	t = &Tree{id: id, exited: make(chan struct{}), leave: func() {}}
	forget := Lead(id.PID)
	return t, sync.OnceFunc(func() {
		forget()
		close(t.exited)
	})
}

// Find returns the tree that an earlier process started; Stop must follow. When the
// leader has ended too, Exited is closed, and Stop ends the rest.
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

// State says how the leader ended; nil while it runs, and for a tree from Find.
func (t *Tree) State() *os.ProcessState {
	select {
	case <-t.exited:
		return t.state
	default:
	}
	return nil
}

// Pause stops the tree until Resume; processes that left the process group keep running.
func (t *Tree) Pause() { t.signalGroup(syscall.SIGSTOP) }

// Resume undoes Pause.
func (t *Tree) Resume() { t.signalGroup(syscall.SIGCONT) }

func (t *Tree) signalGroup(sig syscall.Signal) {
	if !t.recycled() {
		_ = syscall.Kill(-t.id.PID, sig)
	}
}

// Leave lets everything run on, and does not watch it any more.
func (t *Tree) Leave() { t.leave() }

// Stop ends everything that still runs: first by SIGTERM, and after grace by SIGKILL. It
// waits for the end and returns the number of remaining processes, which is above 0 only
// where the kernel does not let one end.
func (t *Tree) Stop(grace time.Duration) (left int) {
	defer t.leave()
	if t.gone() || t.ending() && t.goneWithin(grace) {
		return 0
	}
	t.Follow()
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT)
	if t.goneWithin(grace) {
		return 0
	}
	return t.kill()
}

// Kill is Stop without SIGTERM: it kills the process group before it looks for others. That ends
// all of a namespace of processes at once, if the leader is its first process.
func (t *Tree) Kill() (left int) {
	defer t.leave()
	t.signalGroup(syscall.SIGKILL)
	return t.kill()
}

// kill kills what runs until nothing does, or killPatience is over.
func (t *Tree) kill() (left int) {
	for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); {
		// Repeat: the next round finds what forks in between.
		t.Follow()
		t.signal(syscall.SIGKILL)
		if t.goneWithin(10 * killPoll) {
			return 0
		}
	}
	return len(t.members())
}

// signal reaches the whole group at once, so that no process in it can fork away, and
// then the processes that left it.
func (t *Tree) signal(sig syscall.Signal) {
	if t.groupAlive() {
		t.signalGroup(sig)
	}
	for _, pid := range t.members() {
		// On Linux FindProcess refers to this very process, so that the signal cannot reach a
		// reused process id.
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
	// What is ending already is gone very soon.
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

// ending says whether the leader has ended and all others are ending, as the inside of a sandbox does: to look
// for what they started among all processes of the machine would take longer than their end.
func (t *Tree) ending() bool { return t.leaderGone() && !slices.ContainsFunc(t.members(), runs) }

// leaderGone says whether the leader has ended and, if it is a child, was reaped.
func (t *Tree) leaderGone() bool {
	select {
	case <-t.exited:
		return true
	default:
		return !t.child && t.id.gone()
	}
}

// recycled says whether the leader's process id belongs to another process now, or is not
// known. The kernel does not reuse it while a group or session with members has that id.
func (t *Tree) recycled() bool {
	if !t.leaderGone() {
		return false
	}
	if t.id.PID == 0 {
		return true
	}
	born, _ := inspect(t.id.PID)
	return born != "" && born != t.id.Born
}

// groupAlive says whether the group has a process.
func (t *Tree) groupAlive() bool {
	return !t.recycled() && syscall.Kill(-t.id.PID, 0) == nil
}
