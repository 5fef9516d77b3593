//go:build integrations

package rig

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/internal/testing/logs"
	"podd/pkg/llm/scripted"
)

// World is podd in its own process, its scripted model, and what a client needs to find
// it.
type World struct {
	t     testing.TB
	model *scripted.Server
	// Dir is the home directory of podd and of its clients; Workspace is an empty
	// directory below it.
	Dir, Workspace string
	// Env is the environment of podd and of its clients.
	Env []string

	cmd    *exec.Cmd
	exited chan struct{}
	mu     sync.Mutex
	log    bytes.Buffer
}

// New starts a podd whose model answers by h. The test's end drains it, and a failed
// drain fails the test.
func New(t testing.TB, h scripted.Handler) *World {
	t.Helper()
	w := Prepare(t, h)
	w.Start()
	return w
}

// Prepare is New without the start: for a test that writes a configuration first.
func Prepare(t testing.TB, h scripted.Handler) *World {
	t.Helper()
	bin := Binaries(t)
	model, err := scripted.Serve(scripted.Config{Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	dir, err := os.MkdirTemp("", "podd") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	logs.AtEnd(t, dir)
	w := &World{t: t, model: model, Dir: dir, Workspace: filepath.Join(dir, "work")}
	if err := os.Mkdir(w.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Env = append(Races(t),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+dir, "PODD_STATE_DIR="+w.StateDir(), "LANG=C.UTF-8",
		"OPENAI_BASE_URL="+model.URL(), "OPENAI_API_KEY=test",
	)
	t.Cleanup(func() {
		if w.cmd != nil {
			w.Stop()
		}
	})
	return w
}

// StateDir is podd's state directory.
func (w *World) StateDir() string { return filepath.Join(w.Dir, "state") }

// Socket is the path of podd's socket.
func (w *World) Socket() string { return filepath.Join(w.StateDir(), "podd.sock") }

// Config is the path of podd's configuration file, which need not exist.
func (w *World) Config() string { return filepath.Join(w.Dir, ".config", "podd", "config.toml") }

// Configure writes podd's configuration file.
func (w *World) Configure(toml string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.Config()), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.Config(), []byte(toml), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// Start starts podd with further arguments and waits until it is ready.
func (w *World) Start(args ...string) {
	w.t.Helper()
	if err := w.start(args); err != nil {
		w.t.Fatal(err)
	}
}

func (w *World) start(args []string) error {
	w.cmd = exec.Command(filepath.Join(binDir(), "podd"), append([]string{"--log-format", "json"}, args...)...)
	w.cmd.Env, w.cmd.Dir = w.Env, w.Dir
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.cmd.Start(); err != nil {
		return err
	}
	ready, exited := make(chan struct{}), make(chan struct{})
	w.exited = exited
	go func() {
		defer close(exited)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			w.mu.Lock()
			w.log.WriteString(lines.Text() + "\n")
			w.mu.Unlock()
			if strings.Contains(lines.Text(), `"msg":"podd ready"`) {
				close(ready)
			}
		}
		_ = w.cmd.Wait()
	}()
	select {
	case <-ready:
		return nil
	case <-exited:
		return errors.New("podd ended before it was ready:\n" + w.Log())
	}
}

// Log is podd's log.
func (w *World) Log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// Stop drains podd and waits for its end. An exit code other than 0 fails the test.
func (w *World) Stop() {
	w.t.Helper()
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	<-w.exited
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Errorf("podd ended with exit code %d:\n%s", code, w.Log())
	}
	w.cmd = nil
}

// Signal sends podd a signal.
func (w *World) Signal(s syscall.Signal) { _ = w.cmd.Process.Signal(s) }

// Ended waits for podd's end and returns its exit code.
func (w *World) Ended() int {
	<-w.exited
	code := w.cmd.ProcessState.ExitCode()
	w.cmd = nil
	return code
}

// Kill ends podd like a crash.
func (w *World) Kill() {
	_ = w.cmd.Process.Kill()
	<-w.exited
	w.cmd = nil
}

// Command is a program that has not started, podctl or one on the PATH, in the workspace
// and with the environment of a client.
func (w *World) Command(name string, args ...string) *exec.Cmd {
	w.t.Helper()
	path := filepath.Join(binDir(), name)
	if _, err := os.Stat(path); err != nil {
		path = Need(w.t, name)
	}
	c := exec.CommandContext(w.t.Context(), path, args...)
	c.Env, c.Dir = w.Env, w.Workspace
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	return c
}

// Podctl runs podctl to its end, which must be a success.
func (w *World) Podctl(args ...string) string {
	w.t.Helper()
	return Run(w.t, w.Command("podctl", args...))
}

// Requests is how many requests the model has got.
func (w *World) Requests() int { return len(w.model.Requests()) }

// Await polls until said returns true. After a minute it fails the test and names what
// did not come.
func Await(t testing.TB, what string, said func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !said() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come in a minute", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Run runs a program to its end, which must be a success, and returns its standard
// output.
func Run(t testing.TB, c *exec.Cmd) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\nstdout:\n%s\nstderr:\n%s", strings.Join(c.Args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}
