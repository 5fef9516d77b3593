package sandbox_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/tool/spool"
)

// enters is bwrap with namespaces that were prepared before: commands enter them.
const enters = "bwrap-enters"

// shim is what starts commands for podd.
func (h *house) shim() *shim.Client {
	h.t.Helper()
	client, err := shim.Open(slog.New(slog.DiscardHandler), launched)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(client.Close)
	return client
}

// prepared is a command that enters prepared namespaces, or that the shim confines by Landlock. The caller closes it.
func (h *house) prepared(s *sandbox.Sandbox, scope sandbox.Scope, argv ...string) *sandbox.Command {
	h.t.Helper()
	// A mount that another program makes meanwhile changes every state.
	for range 20 {
		c, err := s.Command(scope, 3, argv...)
		if err != nil {
			h.t.Fatal(err)
		}
		if c.Entry != nil {
			// It must not run in another way.
			c.Args = []string{"/no/such/program"}
			return c
		}
		if s.Mode() == sandbox.Landlock {
			c.Args[0] = "/no/such/program"
			return c
		}
		c.Close()
	}
	h.t.Fatal("nothing is prepared for later commands")
	return nil
}

// begin starts a command by a shim. Its output is in the job's file.
func (h *house) begin(s *sandbox.Sandbox, c *sandbox.Command, env ...string) (*shim.Running, *spool.Job) {
	h.t.Helper()
	all, err := spool.Open(spool.Config{Dir: h.t.TempDir()})
	if err != nil {
		h.t.Fatal(err)
	}
	folder, err := all.Folder("p")
	if err != nil {
		h.t.Fatal(err)
	}
	job, err := folder.CreateJob("shell", "c", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { job.Settle(false) })
	command := shim.Command{
		Args: c.Args, Env: slices.Concat([]string{"PATH=" + os.Getenv("PATH")}, env, c.Env), Dir: h.path("work"),
		Output: job.Output.File, Files: c.Files, Record: job.Record, Entry: c.Entry,
	}
	if h.limited {
		command.Limits = s.Limits()
	}
	running, err := h.client.Start(context.Background(), command)
	if err != nil {
		h.t.Fatal(err)
	}
	return running, job
}

// runByShim runs a command that the shim confines.
func (h *house) runByShim(s *sandbox.Sandbox, scope sandbox.Scope, attack string, argv ...string) string {
	h.t.Helper()
	c := h.prepared(s, scope, argv...)
	defer c.Close()
	running, job := h.begin(s, c, attackVariable+"="+attack)
	<-running.Exited()
	running.Stop(100 * time.Millisecond)
	out, err := os.ReadFile(job.Output.Name())
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// One command leaves nothing to the next, which has the same sandbox.
func TestNothingPassesFromOneCommandToTheNext(t *testing.T) {
	h := newHouse(t)
	s := h.sandbox(enters)
	for _, c := range []struct{ name, first, second, want string }{
		{"shared memory", "echo a >/dev/shm/a; ls /dev/shm", "ls /dev/shm", "a"},
		{"a hidden directory", "echo a >" + h.path("home/.ssh/a") + "; ls " + h.path("home/.ssh"), "ls " + h.path("home/.ssh"), "a"},
		{"what covers podd's files", "echo a >" + h.path("state/spool/a") + "; ls " + h.path("state/spool"), "ls " + h.path("state/spool"), "a\np"},
		{"a process", "setsid sleep 100 & until ps -eo comm | grep -c sleep; do :; done", "ps -eo comm | grep -c sleep", "1"},
		{"memory of System V", "ipcmk -M 4096 >/dev/null; ipcs -m | grep -c '^0x'", "ipcs -m | grep -c '^0x'", "1"},
		{"a socket", "python3 -c 'import socket,os,time; s=socket.socket(socket.AF_UNIX); s.bind(chr(0)+\"left\"); s.listen(); os.system(\"grep -c @left /proc/net/unix\")'", "grep -c @left /proc/net/unix", "1"},
		{"the environment", "export LEFT=a; echo $LEFT", "echo $LEFT", "a"},
	} {
		first, second := h.run(s, "", "/bin/sh", "-c", c.first), h.run(s, "", "/bin/sh", "-c", c.second)
		if !strings.Contains(first, c.want) || strings.Contains(second, c.want) {
			t.Errorf("%s: %q, then %q", c.name, first, second)
		}
	}
	if out := h.run(s, "", "/bin/sh", "-c", "ls -l /proc/self/fd >$TMPDIR/fds; grep -c -e pipe: -e socket: -e job -e ns/ -e mnt: -e user: $TMPDIR/fds"); out != "0" {
		t.Errorf("a command has %s descriptors that are not its own", out)
	}
	if out := h.run(s, "", "/bin/sh", "-c", "cat /proc/1/environ /proc/1/maps; ls /proc/1/fd"); strings.Count(out, "denied") != strings.Count(out, "\n")+1 {
		t.Errorf("its first process shows %q", out)
	}
	if out := h.run(s, "", "/bin/sh", "-c", "grep -e Cap -e NoNew -e Seccomp: /proc/self/status /proc/1/status | tr -d '\t' | cut -d: -f2- | sort -u"); out != "CapAmb:0000000000000000\nCapBnd:0000000000000000\nCapEff:0000000000000000\nCapInh:0000000000000000\nCapPrm:0000000000000000\nNoNewPrivs:1\nSeccomp:2" {
		t.Errorf("its privileges are %s", out)
	}
}

// What bwrap would mount in another way now is not entered.
func TestChangedStateIsNotEntered(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, h *house, scope *sandbox.Scope)
	}{
		{"nothing", nil},
		{"a hidden directory is made again", func(t *testing.T, h *house, _ *sandbox.Scope) {
			again(t, h.path("home/.ssh"), os.RemoveAll)
		}},
		{"a hidden directory is another", func(t *testing.T, h *house, _ *sandbox.Scope) {
			again(t, h.path("home/.ssh"), func(path string) error { return os.Rename(path, path+".old") })
		}},
		{"the workspace's .git is another", func(t *testing.T, h *house, _ *sandbox.Scope) {
			again(t, h.path("work/.git/hooks"), func(path string) error { return os.Rename(path, path+".old") })
			again(t, h.path("work/.git"), func(path string) error { return os.Rename(path, path+".old") })
		}},
		{"a new protected path", func(t *testing.T, h *house, _ *sandbox.Scope) { h.write("work/.profile") }},
		{"a new credential", func(t *testing.T, h *house, _ *sandbox.Scope) {
			again(t, h.path("home/.aws"), func(string) error { return nil })
		}},
		{"another /tmp", func(t *testing.T, h *house, scope *sandbox.Scope) { scope.Temp = h.path("outside") }},
		{"reading alone", func(_ *testing.T, _ *house, scope *sandbox.Scope) { scope.ReadOnly = true }},
		{"the network", func(_ *testing.T, _ *house, scope *sandbox.Scope) { scope.Network = true }},
		{"another network", func(_ *testing.T, _ *house, scope *sandbox.Scope) { scope.Joined = true }},
		{"no guard", func(_ *testing.T, _ *house, scope *sandbox.Scope) { scope.Free = true }},
		{"a mount", func(t *testing.T, h *house, _ *sandbox.Scope) {
			if err := unix.Mount("podd-test", h.path("outside"), "tmpfs", 0, ""); err != nil {
				t.Skipf("this user cannot mount: %v", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(h.path("outside"), unix.MNT_DETACH) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			s := h.sandbox(enters)
			scope, done := h.scope()
			defer done()
			h.prepared(s, scope, "/bin/true").Close()
			if c.change != nil {
				c.change(t, h, &scope)
			}
			command, err := s.Command(scope, 3, "/bin/true")
			if err != nil {
				t.Fatal(err)
			}
			defer command.Close()
			if entered := command.Entry != nil; entered != (c.change == nil) {
				t.Errorf("entered: %v", entered)
			}
		})
	}
}

// again makes a directory again.
func again(t *testing.T, path string, remove func(string) error) {
	t.Helper()
	if err := remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// A command whose namespaces cannot be entered runs by its command line.
func TestWhatCannotBeEnteredRunsAnyway(t *testing.T) {
	h := newHouse(t)
	s := h.sandbox(enters)
	scope, done := h.scope()
	defer done()
	c := h.prepared(s, scope, "/bin/true")
	defer c.Close()
	var said bytes.Buffer
	client, err := shim.Open(slog.New(slog.NewTextHandler(&said, nil)), launched)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	h.client = client
	for i := range c.Entry.Spaces {
		spaces := slices.Clone(c.Entry.Spaces)
		spaces[i] = c.Files[0]
		entry := *c.Entry
		entry.Spaces = spaces
		broken := &sandbox.Command{Args: []string{"/bin/sh", "-c", "echo ran"}, Entry: &entry}
		running, job := h.begin(s, broken)
		<-running.Exited()
		if out, err := os.ReadFile(job.Output.Name()); err != nil || string(out) != "ran\n" || running.Status() != "0" {
			t.Errorf("without file %d: %q, status %q, %v", i, out, running.Status(), err)
		}
		running.Stop(0)
	}
	client.Close()
	if count := strings.Count(said.String(), "could not enter its prepared namespaces"); count != 1 || !strings.Contains(said.String(), "step 0 of entering") {
		t.Errorf("the log has this %d times: %s", count, said.String())
	}
}

// When the shim is killed, a command goes on in its sandbox, and ends by its session.
func TestCommandOutlivesShimInPreparedNamespaces(t *testing.T) {
	h := newHouse(t)
	s := h.sandbox(enters)
	tree := h.start(s, "trap 'echo bye >bye; exit' TERM; echo up >up; while :; do sleep 0.02; done")
	h.awaitUp(tree)
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(tree.ID().PID) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(parent, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.Close()
	found := process.Find(tree.ID())
	if left := found.Stop(time.Minute); left != 0 {
		t.Errorf("%d processes remain", left)
	}
	if _, err := os.Stat(h.path("work/bye")); err != nil {
		t.Error(err)
	}
}

// The time of a command under bwrap, by what starts commands: medians of commands that run
// alternately.
func BenchmarkEnter(b *testing.B) {
	h := newHouse(b)
	s := h.sandbox(enters)
	scope, done := h.scope()
	defer done()
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, kind := range []string{"unsandboxed", "bwrap", "enters"} {
			c := &sandbox.Command{Args: []string{"/bin/true"}}
			if kind != "unsandboxed" {
				var err error
				if c, err = s.Command(scope, 3, "/bin/true"); err != nil {
					b.Fatal(err)
				}
			}
			if kind == "bwrap" {
				(&sandbox.Command{Entry: c.Entry}).Close()
				c.Entry = nil
			}
			begin := time.Now()
			running, job := h.begin(s, c)
			<-running.Exited()
			took[kind] = append(took[kind], time.Since(begin))
			running.Stop(0)
			job.Settle(false)
			c.Close()
		}
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"-ms")
	}
	b.ReportMetric(0, "ns/op")
}
