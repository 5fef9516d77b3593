package shim_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/pkg/tool/record"
	"podd/pkg/tool/spool"
)

// stamps writes the time of CLOCK_BOOTTIME every 10 ms to the file JOB.leader, and has a daemon do
// so in JOB.daemon. Neither ends by SIGTERM.
const stamps = `trap "" TERM HUP
loop='echo $$ >$0.pid; while read -r up rest </proc/uptime && echo $up >>$0; do sleep 0.01; done'
(setsid sh -c "$loop" $JOB.daemon >/dev/null 2>&1 &)
exec sh -c "$loop" $JOB.leader`

// newLease is a lease of this process, in which nobody renews it.
func newLease(t *testing.T) *lease.Lease {
	t.Helper()
	l, err := lease.Open(filepath.Join(t.TempDir(), "podd.lease"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if err := l.Renewing()(); err != nil {
		t.Fatal(err)
	}
	return l
}

// awaitLong is await for what takes seconds.
func awaitLong(t *testing.T, done func() bool) {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	await(t, func() bool { <-poll.C; return done() })
}

// writer is a process that writes stamps.
type writer struct {
	path string
	pid  int
}

// writers are those of a job in a directory.
func writers(t *testing.T, dir, job string) (all []writer) {
	t.Helper()
	for _, name := range []string{".leader", ".daemon"} {
		path := filepath.Join(dir, job+name)
		all = append(all, writer{path, pidIn(t, path+".pid")})
	}
	return all
}

// last is the last whole stamp.
func (w writer) last() time.Duration {
	text, _ := os.ReadFile(w.path)
	lines := strings.Split(string(text), "\n")
	seconds, _ := strconv.ParseFloat(lines[max(len(lines)-2, 0)], 64)
	return time.Duration(seconds * float64(time.Second))
}

// goesOn waits for a stamp after a time, or the next one.
func (w writer) goesOn(t *testing.T, after time.Duration) {
	t.Helper()
	after = max(after, w.last())
	awaitLong(t, func() bool {
		if gone(w.pid) {
			t.Fatalf("%s has ended", filepath.Base(w.path))
		}
		return w.last() > after
	})
}

// kill kills a process, and waits for its end.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitLong(t, func() bool { return gone(pid) })
}

// A command and its daemons are killed at the end of its lease, although podd does nothing about
// it, and other commands are not. No command starts after it.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	client, l, dir := newClient(t), newLease(t), t.TempDir()
	start := func(id string, l *lease.Lease) (*shim.Running, error) {
		c := command(newJob(t), dir, stamps)
		c.Env = append(c.Env, "JOB="+id)
		c.Lease = l
		return client.Start(t.Context(), c)
	}
	other, err := start("c", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop(0)
	r, err := start("l", l)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop(0)
	all := writers(t, dir, "l")
	<-r.Exited()
	if l.Check() == nil || r.Status() != shim.StatusOver {
		t.Errorf("it ended with status %q while its lease lasts: %v", r.Status(), l.Check())
	}
	for _, w := range all {
		awaitLong(t, func() bool { return gone(w.pid) })
	}
	for _, w := range writers(t, dir, "c") {
		w.goesOn(t, 0)
	}
	job := newJob(t)
	c := command(job, dir, ": >ran")
	c.Lease = l
	if _, err := client.Start(t.Context(), c); err == nil || err.Error() != lease.ErrOver.Error() {
		t.Errorf("a start after the end: %v", err)
	}
	var note shim.Note
	if err := notesOf(job, &note); err != nil || note.Begins {
		t.Errorf("its record has %+v, %v", note, err)
	}
	if status, _ := run(t, client, nil, "exit 4"); status != "4" || exists(filepath.Join(dir, "ran")) {
		t.Errorf("status %q", status)
	}
}

// A lease whose file is damaged while a command runs is over when it could have ended, and one
// without a deadline at once.
func TestDamagedLease(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for name, damage := range map[string]func(l *lease.Lease) error{
		"cut off": func(l *lease.Lease) error { return l.File().Truncate(0) },
		"garbage": func(l *lease.Lease) error { _, err := l.File().WriteAt([]byte("garbage!"), 0); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, dir := newLease(t), t.TempDir()
			c := command(newJob(t), dir, stamps)
			c.Env, c.Lease = append(c.Env, "JOB=l"), l
			r, err := client.Start(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop(0)
			if err := damage(l); err != nil {
				t.Fatal(err)
			}
			<-r.Exited()
			if r.Status() != shim.StatusOver {
				t.Errorf("status %q", r.Status())
			}
			c = command(newJob(t), dir, "true")
			c.Lease = l
			if _, err := client.Start(t.Context(), c); err == nil {
				t.Error("a command starts")
			}
		})
	}
}

// leasing starts a podd that renews a lease and runs stamps with it, and without it, until podd is
// killed.
func leasing(t *testing.T, dir, spoolDir string) (podd *exec.Cmd, l *lease.Lease) {
	t.Helper()
	path := filepath.Join(dir, "podd.lease")
	podd = exec.Command(os.Args[0])
	podd.Dir, podd.Stderr = dir, os.Stderr
	podd.Env = append(os.Environ(), scriptVariable+"="+stamps, spoolVariable+"="+spoolDir, leaseVariable+"="+path)
	if err := podd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = podd.Process.Kill()
		_ = podd.Wait()
		for _, id := range []string{"c", "l"} {
			if job, err := folder(t, spoolDir).OpenJob("shell", id); err == nil {
				var note shim.Note
				if err := job.Record.Notes(&note); err == nil && note.Process != nil {
					process.Find(*note.Process).Stop(0)
				}
				job.Settle(false)
			}
		}
	})
	awaitLong(t, func() bool {
		return exists(filepath.Join(dir, "l.daemon.pid")) && exists(filepath.Join(dir, "l.leader.pid"))
	})
	l, err := lease.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return podd, l
}

// The shim kills while podd is stopped, and after podd was killed. What ends with no lease goes on.
func TestLeaseOfAPoddThatIsGone(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"stopped": syscall.SIGSTOP, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, spoolDir := t.TempDir(), t.TempDir()
			podd, l := leasing(t, dir, spoolDir)
			all := writers(t, dir, "l")
			// Renewals keep it alive.
			all[0].goesOn(t, all[0].last()+lease.For)
			if signal == syscall.SIGSTOP {
				stop(t, podd.Process.Pid)
			} else {
				kill(t, podd.Process.Pid)
			}
			until := deadline(t, filepath.Join(dir, "podd.lease"))
			for _, w := range all {
				awaitLong(t, func() bool { return gone(w.pid) })
				t.Logf("%s: its last stamp is %v after the deadline", filepath.Base(w.path), w.last()-until)
			}
			if l.Check() == nil {
				t.Error("the lease lasts")
			}
			for _, w := range writers(t, dir, "c") {
				w.goesOn(t, 0)
			}
			job, err := folder(t, spoolDir).OpenJob("shell", "l")
			if err != nil {
				t.Fatal(err)
			}
			defer job.Close()
			awaitLong(t, func() bool { return job.Record.Status() != "" })
			if status := job.Record.Status(); status != shim.StatusOver {
				t.Errorf("its record has status %q", status)
			}
		})
	}
}

// A podd that starts again before the deadline keeps the commands alive.
func TestLeaseOfTheNextPodd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	podd, l := leasing(t, dir, t.TempDir())
	all := writers(t, dir, "l")
	if err := podd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	renewed := make(chan error, 1)
	go func() {
		var err error
		for tick := time.NewTicker(renewEvery); err == nil; {
			if err = l.Renewing()(); err != nil {
				break
			}
			select {
			case <-tick.C:
				continue
			case <-end:
			}
			tick.Stop()
			break
		}
		renewed <- err
	}()
	for _, w := range all {
		w.goesOn(t, all[0].last()+lease.For)
	}
	close(end)
	if err := <-renewed; err != nil {
		t.Error(err)
	}
	for _, w := range all {
		awaitLong(t, func() bool { return gone(w.pid) })
	}
}

// deadline is that in a file.
func deadline(t *testing.T, path string) time.Duration {
	t.Helper()
	word, err := os.ReadFile(path)
	if err != nil || len(word) != 8 {
		t.Fatal(err)
	}
	return time.Duration(binary.NativeEndian.Uint64(word))
}

// notesOf reads the record of a job that a client has closed.
func notesOf(job *spool.Job, note *shim.Note) error {
	file, err := os.Open(recordOf(job))
	if err != nil {
		return err
	}
	defer file.Close()
	return record.Of(file).Notes(note)
}
