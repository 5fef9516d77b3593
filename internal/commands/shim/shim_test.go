package shim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/launcher"
	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/testing/programs"
	"podd/pkg/tool/spool"
)

// starter is what both kinds implement.
type starter interface {
	Start(ctx context.Context, c shim.Command) (*shim.Running, error)
}

func command(job *spool.Job, dir, script string) shim.Command {
	return shim.Command{
		Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir,
		Output: job.Output.File, Record: job.Record,
	}
}

func folder(t *testing.T, dir string) *spool.Folder {
	t.Helper()
	all, err := spool.Open(spool.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f, err := all.Folder("p")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// newJob makes a job whose files are removed with the test.
func newJob(t *testing.T) *spool.Job {
	t.Helper()
	job, err := folder(t, t.TempDir()).CreateJob("shell", "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { job.Settle(false) })
	return job
}

func newClient(t *testing.T) *shim.Client { return clientOf(t, nil) }

// launcherClient is a client whose shims are podd-launch.
func launcherClient(t *testing.T) *shim.Client {
	t.Helper()
	l, err := launcher.Open(t.Context(), programs.Launcher(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return clientOf(t, l)
}

func clientOf(t *testing.T, l *launcher.Launcher) *shim.Client {
	t.Helper()
	client, err := shim.Open(slog.New(slog.NewTextHandler(t.Output(), nil)), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// run runs a script to its end.
func run(t *testing.T, s starter, adjust func(*shim.Command), script string) (status, output string) {
	t.Helper()
	job := newJob(t)
	c := command(job, t.TempDir(), script)
	if adjust != nil {
		adjust(&c)
	}
	r, err := s.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-r.Exited()
	if left := r.Stop(time.Second); left > 0 {
		t.Errorf("%d processes remain", left)
	}
	text, err := os.ReadFile(job.Output.Name())
	if err != nil {
		t.Fatal(err)
	}
	return r.Status(), string(text)
}

func both(t *testing.T, test func(t *testing.T, s starter)) {
	t.Run("local", func(t *testing.T) { test(t, shim.Local{}) })
	t.Run("shim", func(t *testing.T) { test(t, newClient(t)) })
	if runtime.GOOS == "linux" {
		t.Run("launcher", func(t *testing.T) { test(t, launcherClient(t)) })
	}
}

// await waits for another process.
func await(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		if t.Context().Err() != nil {
			t.Fatal("the test ends")
		}
		runtime.Gosched()
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	var pid int
	await(t, func() bool {
		text, err := os.ReadFile(path)
		line, whole := strings.CutSuffix(string(text), "\n")
		if err != nil || !whole {
			return false
		}
		pid, err = strconv.Atoi(line)
		return err == nil
	})
	return pid
}

func TestStatusAndOutput(t *testing.T) {
	both(t, func(t *testing.T, s starter) {
		for _, c := range []struct{ script, status, output string }{
			{"echo a; echo b >&2", "0", "a\nb\n"},
			{"exit 3", "3", ""},
			{"kill -SEGV $$", "139", ""},
			{"kill -TERM $$; echo on", "143", ""},
			{"trap 'echo trapped; exit 4' HUP INT; kill -INT $$", "4", "trapped\n"},
			{"cat", "0", ""},
			{"no-such-program 2>/dev/null", "127", ""},
		} {
			if status, output := run(t, s, nil, c.script); status != c.status || output != c.output {
				t.Errorf("%s: status %q, output %q", c.script, status, output)
			}
		}
	})
}

func TestWhatACommandHas(t *testing.T) {
	t.Setenv("PODD_TEST_SECRET", "x")
	both(t, func(t *testing.T, s starter) {
		dir := t.TempDir()
		third, err := os.Create(filepath.Join(dir, "third"))
		if err != nil {
			t.Fatal(err)
		}
		defer third.Close()
		long := strings.Repeat("é", 60_000)
		_, output := run(t, s, func(c *shim.Command) {
			c.Dir, c.Files = dir, []*os.File{third}
			c.Env = append(c.Env, "LONG="+long, "A=b=c", "EMPTY=")
		}, `pwd; env | grep -v -e ^PWD -e ^_ -e ^SHLVL -e ^PATH -e ^OLDPWD | sort | cut -c1-40; echo three >&3; ls -l /proc/self/fd 2>/dev/null`)
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(output, "\n")
		if lines[0] != resolved || lines[1] != "A=b=c" || lines[2] != "EMPTY=" || !strings.HasPrefix(lines[3], "LONG=éé") || !strings.HasPrefix(lines[4], "PODD_COMMAND=") {
			t.Errorf("it has %.200q", lines)
		}
		if open := strings.Join(lines[5:], "\n"); strings.Contains(open, ".job") || strings.Contains(open, "socket:") {
			t.Errorf("it has open:\n%s", open)
		}
		if text, err := os.ReadFile(third.Name()); err != nil || string(text) != "three\n" {
			t.Errorf("the third file has %q, %v", text, err)
		}
	})
}

func TestCommandsThatCannotBeStarted(t *testing.T) {
	both(t, func(t *testing.T, s starter) {
		for want, adjust := range map[string]func(*shim.Command){
			"/no/such/program: no such file":  func(c *shim.Command) { c.Args[0] = "/no/such/program" },
			": no such file or directory":     func(c *shim.Command) { c.Dir = "/no/such/directory" },
			"more than 251 open files":        func(c *shim.Command) { c.Files = make([]*os.File, 252); fill(c.Files, c.Output) },
			"environment has a NUL character": func(c *shim.Command) { c.Env = append(c.Env, "A=\x00") },
			"argument list too long":          func(c *shim.Command) { c.Args[2] = strings.Repeat("x", 1<<20) },
		} {
			job := newJob(t)
			c := command(job, t.TempDir(), ": >ran")
			adjust(&c)
			_, err := s.Start(t.Context(), c)
			if _, local := s.(shim.Local); local && (err == nil || !strings.Contains(want, "such file")) {
				continue
			}
			if err == nil || errors.Is(err, shim.ErrLost) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if text, err := os.ReadFile(recordOf(job)); err != nil || strings.Contains(string(text), "begins") != strings.Contains(string(text), "failed") {
				t.Errorf("%s: its record has %q, %v", want, text, err)
			}
		}
		if status, _ := run(t, s, nil, "true"); status != "0" {
			t.Errorf("the next one ends with %q", status)
		}
	})
}

// recordOf is the path of a job's record.
func recordOf(job *spool.Job) string {
	dir, name := filepath.Split(job.Output.Name())
	return filepath.Join(dir, "."+strings.TrimSuffix(name, ".out")+".job")
}

func fill(files []*os.File, file *os.File) {
	for i := range files {
		files[i] = file
	}
}

// Every command gets its own status, whatever runs beside it.
func TestManyAtOnce(t *testing.T) {
	both(t, func(t *testing.T, s starter) {
		var all sync.WaitGroup
		for n := range 40 {
			all.Go(func() {
				if status, output := run(t, s, nil, fmt.Sprintf("echo %d; exit %d", n, n)); status != strconv.Itoa(n) || output != status+"\n" {
					t.Errorf("command %d: status %q, output %q", n, status, output)
				}
			})
		}
		all.Wait()
	})
}

// killedAfter runs a script in a second podd, kills that podd once the script has made
// the file "ready", and returns the job as the next podd finds it.
func killedAfter(t *testing.T, script string) (job *spool.Job, dir string) {
	t.Helper()
	dir = t.TempDir()
	spoolDir := t.TempDir()
	podd := exec.Command(os.Args[0])
	podd.Dir, podd.Stderr = dir, os.Stderr
	podd.Env = append(os.Environ(), scriptVariable+"="+script, spoolVariable+"="+spoolDir)
	if err := podd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return exists(filepath.Join(dir, "ready")) })
	if err := podd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = podd.Wait()
	job, err := folder(t, spoolDir).OpenJob("shell", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { job.Settle(false) })
	return job, dir
}

// A command that runs when podd is killed continues, and the shim records how it ends.
// The shim ends with it.
func TestPoddIsKilled(t *testing.T) {
	job, dir := killedAfter(t, "echo $PPID >shim; : >ready; while ! [ -e go ]; do sleep 0.01; done; exit 7")
	// The command may make "ready" before its shim, which runs on, has noted the process.
	var note shim.Note
	await(t, func() bool { return job.Record.Notes(&note) == nil && note.Process != nil })
	if !job.Record.Held() || job.Record.Status() != "" {
		t.Fatalf("held: %v, status %q", job.Record.Held(), job.Record.Status())
	}
	shimPID := pidIn(t, filepath.Join(dir, "shim"))
	if err := syscall.Kill(shimPID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	tree := process.Find(*note.Process)
	defer tree.Stop(time.Second)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return !job.Record.Held() })
	if status := job.Record.Status(); status != "7" {
		t.Errorf("status %q", status)
	}
	<-tree.Exited()
	await(t, func() bool { return gone(shimPID) })
}

func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if runtime.GOOS != "linux" {
		return syscall.Kill(pid, 0) != nil
	}
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// stop stops a process, and waits until each of its threads has stopped.
func stop(t *testing.T, pid int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the state of a process is read from /proc")
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool {
		threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
		for _, thread := range threads {
			if stat, _ := os.ReadFile(thread); !strings.Contains(string(stat), ") T ") {
				return false
			}
		}
		return err == nil && len(threads) > 0
	})
}

// Killing a shim costs its commands their status, and nothing else.
func TestShimIsKilled(t *testing.T) {
	client, job, dir := newClient(t), newJob(t), t.TempDir()
	r, err := client.Start(t.Context(), command(job, dir, "echo $PPID >shim; while ! [ -e go ]; do sleep 0.01; done; : >done"))
	if err != nil {
		t.Fatal(err)
	}
	first := pidIn(t, filepath.Join(dir, "shim"))
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return gone(first) })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-r.Exited()
	if r.Status() != "" || !exists(filepath.Join(dir, "done")) {
		t.Errorf("status %q, done: %v", r.Status(), exists(filepath.Join(dir, "done")))
	}
	r.Stop(time.Second)
	if status, output := run(t, client, nil, "echo $PPID"); status != "0" || output == strconv.Itoa(first)+"\n" {
		t.Errorf("the next one: status %q, output %q", status, output)
	}
}

// A request that the shim does not answer is lost, and its record says that nothing
// began.
func TestRequestIsLost(t *testing.T) {
	client := newClient(t)
	_, output := run(t, client, nil, "echo $PPID")
	pid, err := strconv.Atoi(strings.TrimSpace(output))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, pid)
	f := folder(t, t.TempDir())
	job, err := f.CreateJob("shell", "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Settle(false)
	dir := t.TempDir()
	failed := make(chan error)
	go func() {
		_, err := client.Start(t.Context(), command(job, dir, ": >ran"))
		failed <- err
	}()
	await(t, func() bool { return client.Asked() == 1 })
	other, err := f.OpenJob("shell", "c")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if !other.Record.Held() {
		t.Error("no process has the record of a request open")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, shim.ErrLost) {
		t.Errorf("Start: %v", err)
	}
	await(t, func() bool { return !other.Record.Held() })
	var note shim.Note
	if err := other.Record.Notes(&note); err != nil || note.Begins || note.Failed || note.Process != nil || exists(filepath.Join(dir, "ran")) {
		t.Errorf("noted: %+v, %v", note, err)
	}
}

// podd stops waiting for a start that takes too long, and ends the command if it begins
// later.
func TestStartIsCancelled(t *testing.T) {
	client, dir := newClient(t), t.TempDir()
	_, output := run(t, client, nil, "echo $PPID")
	pid, err := strconv.Atoi(strings.TrimSpace(output))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, pid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job := newJob(t)
	if _, err := client.Start(ctx, command(job, dir, "echo $$ >pid; exec sleep 600")); !errors.Is(err, shim.ErrLost) {
		t.Errorf("Start: %v", err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if status, _ := run(t, client, nil, "exit 5"); status != "5" {
		t.Errorf("the next one ends with %q", status)
	}
	client.Close()
	if text, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil && !gone(pidIn(t, filepath.Join(dir, "pid"))) {
		t.Errorf("process %s goes on", text)
	}
}

// A podd that leaves waits for no command and warns of none: one that runs and one that has not begun yet run to
// their ends, and are noted.
func TestLeave(t *testing.T) {
	var log bytes.Buffer
	client, err := shim.Open(slog.New(slog.NewTextHandler(&log, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	jobs, dir := folder(t, t.TempDir()), t.TempDir()
	leave := errors.New("podd restarts")
	start := func(ctx context.Context, id, script string) error {
		job, err := jobs.CreateJob("shell", id, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := command(job, dir, script)
		c.Leave = leave
		_, err = client.Start(ctx, c)
		_ = job.Output.Close()
		return err
	}
	const wait = "while ! [ -e go ]; do sleep 0.01; done; "
	if err := start(t.Context(), "runs", "echo $PPID >shim; "+wait+"exit 7"); err != nil {
		t.Fatal(err)
	}
	shimPID := pidIn(t, filepath.Join(dir, "shim"))
	stop(t, shimPID)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(leave)
	if err := start(ctx, "begins", wait+"exit 5"); !errors.Is(err, shim.ErrLost) {
		t.Errorf("Start: %v", err)
	}
	client.Leave()
	if log.Len() > 0 {
		t.Errorf("podd says %s", log.String())
	}
	if err := syscall.Kill(shimPID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"runs": "7", "begins": "5"} {
		job, err := jobs.OpenJob("shell", id)
		if err != nil {
			t.Fatal(err)
		}
		await(t, func() bool { return !job.Record.Held() })
		if status := job.Record.Status(); status != want {
			t.Errorf("%s: status %q, want %s", id, status, want)
		}
		job.Settle(false)
	}
	await(t, func() bool { return gone(shimPID) })
}

// Commands with the same limits share a shim, and limits apply from a command's first
// moment.
func TestLimits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds other processes")
	}
	client := newClient(t)
	limited := func(bytes uint64) func(*shim.Command) {
		return func(c *shim.Command) { c.Limits = process.Limits{NoCore: true, FileBytes: bytes, OOMScore: 500} }
	}
	// The kernel ends a command before the shim, which has the score of the command while it starts it. The command
	// may be faster than the end of that.
	const script = "echo $PPID; ulimit -H -f; ulimit -H -c; cat /proc/self/oom_score_adj; " +
		"for try in $(seq 500); do [ $(cat /proc/$PPID/oom_score_adj) = 500 ] || break; sleep 0.01; done; " +
		"cat /proc/$PPID/oom_score_adj"
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	shims := map[string]bool{}
	for _, c := range []struct {
		adjust func(*shim.Command)
		want   string
		shims  int
	}{
		{limited(512 << 10), "1024\n0\n500\n", 1},
		{limited(512 << 10), "1024\n0\n500\n", 1},
		{limited(1 << 20), "2048\n0\n500\n", 2},
		{limited(512 << 10), "1024\n0\n500\n", 2},
	} {
		_, output := run(t, client, c.adjust, script)
		pid, rest, _ := strings.Cut(output, "\n")
		shims[pid] = true
		if rest != c.want+string(own) || len(shims) != c.shims {
			t.Errorf("%q by %d shims, want %q by %d", rest, len(shims), c.want, c.shims)
		}
	}
	if _, output := run(t, client, nil, "ulimit -H -f"); output == "1024\n" {
		t.Error("a command without limits has limits")
	}
}

// An idle shim ends; the next command starts another.
func TestIdleShimEnds(t *testing.T) {
	client := newClient(t)
	client.SetIdle(time.Microsecond)
	for range 3 {
		status, output := run(t, client, nil, "echo $PPID")
		pid, err := strconv.Atoi(strings.TrimSpace(output))
		if err != nil || status != "0" {
			t.Fatalf("status %q, output %q", status, output)
		}
		await(t, func() bool { return gone(pid) })
	}
}

func TestClose(t *testing.T) {
	client := newClient(t)
	_, output := run(t, client, nil, "echo $PPID")
	pid, err := strconv.Atoi(strings.TrimSpace(output))
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if !gone(pid) {
		t.Error("the shim is there after Close")
	}
	job := newJob(t)
	if _, err := client.Start(t.Context(), command(job, t.TempDir(), "true")); !errors.Is(err, shim.ErrClosed) {
		t.Errorf("Start after Close: %v", err)
	}
}
