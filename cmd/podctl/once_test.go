package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/pkg/llm/scripted"
)

// once is a world without a podd, for podctl run --once. The command of the model's first answer holds the fifo open
// for writing.
type once struct {
	*world
	fifo string
}

func newOnce(t *testing.T, answer ...scripted.Part) *once {
	t.Helper()
	model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(answer...)
		}
		return scripted.Say(scripted.Text("Done."))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"t", "home", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fifo := filepath.Join(dir, "work", "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return &once{fifo: fifo, world: &world{t: t, dir: dir + "/work", env: []string{
		"PATH=" + filepath.Dir(poddPath) + ":" + os.Getenv("PATH"), "HOME=" + dir + "/home", "TMPDIR=" + dir + "/t",
		"OPENAI_BASE_URL=" + model.URL(), "OPENAI_API_KEY=test", "GORACE=exitcode=99 atexit_sleep_ms=0",
	}}}
}

// states are the state directories that are there.
func (o *once) states() []string {
	o.t.Helper()
	list, err := filepath.Glob(filepath.Join(o.dir, "..", "t", "*", "*"))
	if err != nil {
		o.t.Fatal(err)
	}
	return list
}

// working starts a turn and waits until its command runs. Reading from the command ends when the command does.
func (o *once) working() (p *podctlProcess, command *os.File) {
	o.t.Helper()
	p = o.podctl("run", "--once", "go").start()
	return p, o.command()
}

// command waits until a command has opened the fifo.
func (o *once) command() *os.File {
	o.t.Helper()
	late := time.AfterFunc(patience, func() {
		if writer, err := os.OpenFile(o.fifo, os.O_RDWR, 0); err == nil {
			_ = writer.Close()
		}
	})
	defer late.Stop()
	command, err := os.Open(o.fifo)
	if err != nil {
		o.t.Fatal(err)
	}
	return command
}

// holding is a call of a command that holds the fifo open.
var holding = scripted.Call{Name: "shell", Arguments: `{"command":"exec 3>fifo; sleep 600"}`}

// awaitEnd waits until a command has ended.
func awaitEnd(t *testing.T, command *os.File) {
	t.Helper()
	if err := command.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, command); err != nil {
		t.Error(err)
	}
	_ = command.Close()
}

// awaitPodd waits until the podd of a state directory has ended: it holds a lock until then.
func awaitPodd(t *testing.T, state string) {
	t.Helper()
	lock, err := os.Open(filepath.Join(state, "podd.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

// Whoever stops podctl: the command and podd end, and nothing is left.
func TestOnceStopped(t *testing.T) {
	t.Parallel()
	o := newOnce(t, holding, scripted.Call{Name: "shell", Arguments: `{"command":"exec 3>fifo; sleep 600","background":true}`})
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		p, command := o.working()
		if err := p.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if code := p.wait(); code != exitInterrupted || !strings.HasSuffix(p.err.String(), "podctl: interrupted: the turn was stopped\n") {
			t.Errorf("%v: exit code %d, standard error %q", s, code, p.err.String())
		}
		awaitEnd(t, command)
		if left := o.states(); len(left) > 0 {
			t.Errorf("%v: left are %q", s, left)
		}
	}
}

// A podctl that is killed takes podd and its commands with it. The next one removes the directory, and not the one of
// a podctl that runs.
func TestOnceKilled(t *testing.T) {
	t.Parallel()
	o := newOnce(t, holding)
	p, command := o.working()
	_ = p.cmd.Process.Kill()
	p.wait()
	awaitEnd(t, command)
	left := o.states()
	if len(left) != 1 {
		t.Fatalf("left are %q", left)
	}
	awaitPodd(t, left[0])

	first, command := o.working()
	now := o.states()
	if len(now) != 1 || now[0] == left[0] {
		t.Errorf("the next podctl has %q, before it there was %q", now, left)
	}
	beside := newOnce(t, holding)
	beside.env = append(beside.env, "TMPDIR="+filepath.Dir(filepath.Dir(now[0])))
	second, other := beside.working()
	if len(o.states()) != 2 {
		t.Errorf("two have %q", o.states())
	}
	for _, p := range []*podctlProcess{first, second} {
		_ = p.cmd.Process.Signal(os.Interrupt)
		p.wait()
	}
	awaitEnd(t, command)
	awaitEnd(t, other)
	if left := o.states(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// podctl says so when its podd is killed, and removes the directory.
func TestOnceLosesPodd(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	defer close(gate)
	o := newOnce(t, scripted.Text("First. "), scripted.Wait(gate))
	p := o.podctl("run", "--once", "go").start()
	p.out.await(t, "First.")
	pid := pidIn(t, o.states()[0])
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != exitFailed || !strings.Contains(p.err.String(), "podctl: podd ended: signal: killed\n") {
		t.Errorf("exit code %d, standard error %q", code, p.err.String())
	}
	if left := o.states(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// The commands of a podd that was killed end: podctl ends them or, if it was killed as well, the next one does.
func TestOnceEndsWhatAKilledPoddLeaves(t *testing.T) {
	t.Parallel()
	o := newOnce(t, holding)
	for name, killed := range map[string]bool{"by podctl": false, "by the next podctl": true} {
		p, command := o.working()
		state := o.states()[0]
		podd := pidIn(t, state)
		if killed {
			// podd has to end first: it ends what runs when podctl has ended.
			if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Kill(podd, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if killed {
			awaitPodd(t, state)
			_ = p.cmd.Process.Kill()
			p.wait()
			// The next command gets a fifo of its own: it would hide the end of this one.
			if err := errors.Join(os.Remove(o.fifo), syscall.Mkfifo(o.fifo, 0o600)); err != nil {
				t.Fatal(err)
			}
			next := o.podctl("run", "--once", "go").start()
			awaitEnd(t, command)
			again := o.command()
			if err := next.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			next.wait()
			awaitEnd(t, again)
		} else {
			if code := p.wait(); code != exitFailed {
				t.Errorf("%s: exit code %d", name, code)
			}
			awaitEnd(t, command)
		}
		if left := o.states(); len(left) > 0 {
			t.Errorf("%s: left are %q", name, left)
		}
	}
}

// Any number of podctls begin and end at once, and each has its directory.
func TestOnceManyAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				dir, remove, err := temporary("podd")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Lstat(filepath.Join(dir, onceLock)); err != nil {
					t.Error(err)
				}
				if err := remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// pidIn is the process that has locked a state directory.
func pidIn(t *testing.T, state string) int {
	t.Helper()
	signed, err := os.ReadFile(filepath.Join(state, "podd.lock"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(signed)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Without a reader of its output, podctl ends by the signal, as submit -f does, and leaves nothing.
func TestOnceWithoutAReader(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	o := newOnce(t, scripted.Text("First. "), scripted.Wait(gate), scripted.Text("Second."))
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := o.podctl("run", "--once", "go")
	p.cmd.Stdout = in
	p.start()
	_ = in.Close()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	close(gate)
	p.wait()
	if state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGPIPE {
		t.Errorf("podctl ended with %v", p.cmd.ProcessState)
	}
	if left := o.states(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// The script that the page gives for CI works as it stands.
func TestOnceInCI(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n### CI\n")
	_, text, _ = strings.Cut(text, "```sh\n")
	script, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("the page has no script")
	}
	o := newOnce(t, scripted.Text("No defects."))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "git() { echo '+one line'; }\n"+script)
	cmd.Env, cmd.Dir = o.env, o.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	review, err := os.ReadFile(filepath.Join(o.dir, "review.md"))
	if err != nil || string(review) != "No defects.\n" {
		t.Errorf("the review is %q, %v; the script printed\n%s", review, err, out)
	}
	if left := o.states(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
