package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/lease"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/internal/shell"
	"podd/pkg/tool"
	"podd/pkg/tool/record"
	"podd/pkg/tool/tooltest"
)

// movable makes the pod one that another node may take over, and gives it a lease in a file.
func movable(t *testing.T, path string) (adjust func(*setup), l *lease.Lease) {
	t.Helper()
	l, err := lease.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return func(c *setup) { c.Movable, c.Lease = true, l }, l
}

// renewed is for as long as a test needs a lease: it is renewed again and again until stop is called.
func renewed(t *testing.T, l *lease.Lease) (stop func()) {
	t.Helper()
	renew := func() {
		if err := l.Renewing()(); err != nil {
			t.Error(err)
		}
	}
	renew()
	stopped := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() {
		again := time.NewTicker(lease.For / 10)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				renew()
			case <-stopped:
				return
			}
		}
	})
	stop = sync.OnceFunc(func() { close(stopped); renewing.Wait() })
	t.Cleanup(stop)
	return stop
}

const lostLease = "this node lost its lease in the database, so another node may have the pod"

// Commands and changes of files end with the lease, and go on with the next one.
func TestToolsEndWithTheLease(t *testing.T) {
	adjust, l := movable(t, filepath.Join(t.TempDir(), "podd.lease"))
	b := newBench(t, nil, confined(t, sandbox.Bwrap), adjust)
	stop := renewed(t, l)
	const stays = "(setsid env -i sleep 600 2>/dev/null &); trap '' TERM; echo up; sleep 600; sleep 600"
	out := tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{Arguments: object("command", stays), Report: func(string) { stop() }})
	if !out.IsError || out.Content != "up\n" || !strings.Contains(out.Summary, ", was ended after ") || !strings.Contains(out.Summary, ": "+lostLease+"; it may have taken effect: up; 1 line") {
		t.Errorf("a command that runs: %+v", out)
	}
	if out := b.call("shell", object("command", "echo x >ran")); !out.IsError || out.Summary != "shell: not run: "+lostLease {
		t.Errorf("a command after it: %+v", out)
	}
	for name, arguments := range map[string]string{
		"write_file":  object("path", "ran", "content", "x"),
		"apply_patch": object("input", "*** Begin Patch\n*** Add File: ran\n+x\n*** End Patch"),
	} {
		if out := b.call(name, arguments); !out.IsError || !strings.Contains(out.Summary, lostLease) {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("something ran")
	}
	stop = renewed(t, l)
	if out := b.call("shell", object("command", "echo again")); out.IsError || out.Content != "again\n" {
		t.Errorf("with the next lease: %+v", out)
	}
	b.start("c1", "command", "echo ready; sleep 600")
	stop()
	if out := b.job("action", "read", "id", "1", "after", 100, "wait_seconds", 60); !strings.Contains(out.Summary, lostLease) {
		t.Errorf("a job: %+v", out)
	}
}

// Commands that could outlive their kill do not start.
func TestMovablePodsNeedBwrap(t *testing.T) {
	adjust, l := movable(t, filepath.Join(t.TempDir(), "podd.lease"))
	for name, c := range map[string]struct {
		more []func(*setup)
		args string
		want string
	}{
		"none":     {nil, object("command", ": >ran"), "its commands need bwrap"},
		"landlock": {[]func(*setup){confined(t, sandbox.Landlock)}, object("command", ": >ran"), "its commands need bwrap"},
		"host":     {[]func(*setup){confined(t, sandbox.Bwrap)}, object("command", ": >ran", "access", "host", "why", "it must"), `leave access "host" out`},
		"no lease": {[]func(*setup){confined(t, sandbox.Bwrap), func(c *setup) { c.Lease = nil }}, object("command", ": >ran"), lostLease},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, append([]func(*setup){adjust}, c.more...)...)
			defer renewed(t, l)()
			out := b.call("shell", c.args)
			if _, err := os.Stat(b.path("ran")); err == nil || !out.IsError || !strings.Contains(out.Summary, "not run: ") || !strings.Contains(out.Summary, c.want) {
				t.Errorf("got %+v", out)
			}
		})
	}
}

// The command of a movable pod that has just become a job ends with the call when podd restarts: another node may
// have the pod as soon as the call returns.
func TestNewJobOfAMovablePodIsNotLeft(t *testing.T) {
	adjust, l := movable(t, filepath.Join(t.TempDir(), "podd.lease"))
	b := newBench(t, nil, confined(t, sandbox.Bwrap), adjust)
	defer renewed(t, l)()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(tool.ErrLeave)
	tl := b.tool("shell")
	arguments, err := tl.Check(object("background", true, "command", "sleep 600"))
	if err != nil {
		t.Fatal(err)
	}
	stored := func() {}
	out, err := tl.Run(ctx, &tool.Invocation{Arguments: arguments, Pod: "p", Turn: 1, CallID: "c1", Later: func(work func()) { stored = work }})
	if err != nil || !out.IsError || strings.Contains(out.Summary, "runs as job") {
		t.Errorf("got %+v, %v", out, err)
	}
	if b.noted(); alive(b.leader()) {
		t.Error("it still runs")
	}
	stored()
}

// The next podd learns why a command ended.
func TestShellRecoversWhatTheLeaseEnded(t *testing.T) {
	_, out := afterItsLease(t, false)
	if !out.IsError || out.Content != "up\n" || !strings.Contains(out.Summary, lostLease+"; it may have taken effect") {
		t.Errorf("got %+v", out)
	}
}

// What a stopped shim left running is killed before the node has its next lease.
func TestEndLeased(t *testing.T) {
	ended, out := afterItsLease(t, true)
	if !ended || !out.IsError || out.Content != "up\n" || !strings.Contains(out.Summary, "may have taken effect") {
		t.Errorf("ended %v: %+v", ended, out)
	}
}

// afterItsLease runs a command in a second podd that is killed, until its lease ends, and recovers
// its call. If the shim hangs, EndLeased kills the command, and ended says whether it does.
func afterItsLease(t *testing.T, hangs bool) (ended bool, out tool.Output) {
	t.Helper()
	confined(t, sandbox.Bwrap)
	t.Setenv(sandboxVariable, sandbox.Bwrap)
	dir, spoolDir, path := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "podd.lease")
	t.Setenv(leaseVariable, path)
	arguments := object("timeout_seconds", 60, "command", "echo up; (setsid sleep 600 2>/dev/null &); : >ready; sleep 600")
	leader, shim := 0, 0
	killAfter(t, dir, spoolDir, arguments, "ready", func() {
		leader = (&bench{t: t, spool: filepath.Join(spoolDir, "p")}).leader()
		if shim = parentOf(t, leader); !hangs {
			return
		}
		if err := syscall.Kill(shim, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	})
	b := benchAt(t, dir, spoolDir)
	if hangs {
		defer func() { _ = syscall.Kill(shim, syscall.SIGCONT) }()
		ended = alive(leader)
		left, err := shell.EndLeased(spoolDir)
		if ended = ended && !alive(leader); err != nil || left > 0 {
			t.Errorf("left %d, %v", left, err)
		}
		_ = syscall.Kill(shim, syscall.SIGCONT)
	}
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for alive(leader) && t.Context().Err() == nil {
		<-poll.C
	}
	out, found := b.recover(t.Context(), with(theCall, arguments))
	if !found {
		t.Fatal("the call was not found")
	}
	return ended, out
}

// leader is the process that the record of the only command names.
func (b *bench) leader() int {
	b.t.Helper()
	b.noted()
	records, err := filepath.Glob(filepath.Join(b.spool, ".*.job"))
	if err != nil {
		b.t.Fatal(err)
	}
	file, err := os.Open(records[0])
	if err != nil {
		b.t.Fatal(err)
	}
	defer file.Close()
	var note shim.Note
	if err := record.Of(file).Notes(&note); err != nil {
		b.t.Fatal(err)
	}
	return note.Process.PID
}

// parentOf is the process that started another.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}
