package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/internal/testing/logs"
	"podd/pkg/llm/scripted"
)

// daemon is podd in its own process.
type daemon struct {
	cmd    *exec.Cmd
	log    *watched
	exited chan struct{}
}

// startPodd starts the podd at a path and waits until it is ready. If podd ends first, the
// error has its log.
func startPodd(path string, env []string, dir string, args ...string) (*daemon, error) {
	d := &daemon{cmd: exec.Command(path, append([]string{"--log-format", "json"}, args...)...), exited: make(chan struct{})}
	d.log = &watched{done: d.exited}
	d.cmd.Env, d.cmd.Dir = env, dir
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	endLate(d.cmd.Process)
	ready := make(chan struct{})
	go func() {
		defer close(d.exited)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			_, _ = d.log.Write([]byte(lines.Text() + "\n"))
			if strings.Contains(lines.Text(), `"msg":"podd ready"`) {
				close(ready)
			}
		}
		_ = d.cmd.Wait()
	}()
	select {
	case <-ready:
		return d, nil
	case <-d.exited:
		return nil, errors.New("podd ended before it was ready:\n" + d.logged())
	}
}

func (d *daemon) logged() string { return d.log.String() }

// end sends a signal and waits for the end. A failed drain is an error.
func (d *daemon) end(s syscall.Signal) error {
	_ = d.cmd.Process.Signal(s)
	<-d.exited
	if code := d.cmd.ProcessState.ExitCode(); s == syscall.SIGTERM && code != 0 {
		return fmt.Errorf("podd ended with exit code %d:\n%s", code, d.logged())
	}
	return nil
}

// world is a podd with a scripted model, and what a podctl needs to find it.
type world struct {
	t      *testing.T
	daemon *daemon
	env    []string
	dir    string
}

// newWorld starts a podd whose model answers by h. The test's end drains it.
func newWorld(t *testing.T, h scripted.Handler) *world {
	t.Helper()
	model, err := scripted.Serve(scripted.Config{Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	logs.AtEnd(t, dir)
	w := &world{t: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/home", "PODD_STATE_DIR=" + dir + "/state",
		"OPENAI_BASE_URL=" + model.URL(), "OPENAI_API_KEY=test", "GORACE=exitcode=99 atexit_sleep_ms=0",
	}}
	w.start()
	t.Cleanup(w.drain)
	return w
}

func (w *world) start() { w.startWith() }

func (w *world) startWith(args ...string) {
	w.t.Helper()
	d, err := startPodd(poddPath, w.env, w.dir, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.daemon = d
}

func (w *world) drain() {
	if err := w.daemon.end(syscall.SIGTERM); err != nil {
		w.t.Error(err)
	}
}

// kill ends podd like a crash.
func (w *world) kill() { _ = w.daemon.end(syscall.SIGKILL) }

// podctl is a podctl that has not started.
func (w *world) podctl(args ...string) *podctlProcess {
	p := &podctlProcess{t: w.t, cmd: exec.CommandContext(w.t.Context(), "podctl", args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = w.env, w.dir
	p.out.done, p.err.done = p.exited, p.exited
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	return p
}

// podctlProcess is podctl in its own process.
type podctlProcess struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err watched
	exited   chan struct{}
}

func (p *podctlProcess) start() *podctlProcess {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	endLate(p.cmd.Process)
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	return p
}

// wait waits for the end and returns the exit code.
func (p *podctlProcess) wait() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}

// run runs it to its end, which must have the exit code want.
func (p *podctlProcess) run(want int) (stdout, stderr string) {
	p.t.Helper()
	if code := p.start().wait(); code != want {
		p.t.Fatalf("%q ended with exit code %d, want %d; stdout:\n%s\nstderr:\n%s", p.cmd.Args, code, want, p.out.String(), p.err.String())
	}
	return p.out.String(), p.err.String()
}

// watched is the output of a process.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	// more is closed and replaced when text comes.
	more chan struct{}
	// done is closed at the end of the output.
	done <-chan struct{}
}

// Write adds text.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more != nil {
		close(w.more)
		w.more = nil
	}
	return w.text.Write(p)
}

// String is all the text.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// patience ends a test that waits in vain.
const patience = 5 * time.Minute

// endLate ends a process that outlives patience, with its stacks in standard error: a test that waits for it, or for what it would write,
// fails and shows why, and other tests go on.
func endLate(process *os.Process) {
	time.AfterFunc(patience, func() { _ = process.Signal(syscall.SIGQUIT) })
	time.AfterFunc(patience+10*time.Second, func() { _ = process.Kill() })
}

// await waits until the text contains what.
func (w *watched) await(t *testing.T, what string) {
	t.Helper()
	for {
		found, more := w.look(what)
		if found {
			return
		}
		select {
		case <-more:
		case <-w.done:
			if found, _ := w.look(what); !found {
				t.Fatalf("%q did not come; there is\n%s", what, w.String())
			}
			return
		}
	}
}

// awaitTwice waits until the text contains what twice.
func (w *watched) awaitTwice(t *testing.T, what string) {
	t.Helper()
	w.awaitBehind(t, what, what)
}

// awaitBehind waits until the text contains what behind other text.
func (w *watched) awaitBehind(t *testing.T, before, what string) {
	t.Helper()
	w.await(t, before)
	from := strings.Index(w.String(), before) + len(before)
	for {
		_, more := w.look(what)
		if strings.Contains(w.String()[from:], what) {
			return
		}
		select {
		case <-more:
		case <-w.done:
			t.Fatalf("%q did not come; there is\n%s", what, w.String())
		}
	}
}

// look says whether the text contains what; more is closed when there is more.
func (w *watched) look(what string) (found bool, more <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more == nil {
		w.more = make(chan struct{})
	}
	return strings.Contains(w.text.String(), what), w.more
}
