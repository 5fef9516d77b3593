package daemon_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// A podd that restarts leaves a command and a job running, also when it ends before it serves. If it is to stop after
// all, they end with it: however late it learns that, and however early it stops after its start.
func TestRestartOrStop(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	hurry := make(chan struct{})
	close(hurry)
	for name, stop := range map[string]func(*leaving){
		"a restart became a stop": func(w *leaving) {
			w.stopsAt = `msg="podd stopped"`
			if err := w.open().Serve(ended, hurry); err != nil {
				t.Error(err)
			}
		},
		"podd stopped as it had started": func(w *leaving) {
			w.restarts.Store(false)
			w.open().Close(ended)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLeaving(t)
			d := w.open()
			ctx, stopServing := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- d.Serve(ctx, hurry) }()
			w.submit()
			running := []*writer{w.runs("job"), w.runs("command")}
			check := func(when string, runs bool) {
				t.Helper()
				for _, r := range running {
					r.check(when, runs)
				}
			}
			w.restarts.Store(true)
			stopServing()
			if err := <-served; err != nil {
				t.Fatal(err)
			}
			check("podd restarted", true)
			w.open().Close(ended)
			check("podd restarted as it had started", true)
			stop(w)
			check(name, false)
		})
	}
}

// leaving is a podd whose model starts a job and a command.
type leaving struct {
	t *testing.T
	daemon.Config
	work     string
	restarts atomic.Bool
	// stopsAt is in the line of the log at which podd learns that it does not restart.
	stopsAt string
}

func newLeaving(t *testing.T) *leaving {
	model, err := scripted.Serve(scripted.Config{Handler: func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(
				scripted.Call{Name: "shell", Arguments: `{"command":"exec 9>job; sleep 1000","background":true}`},
				scripted.Call{Name: "shell", Arguments: `{"command":"exec 9>command; sleep 1000"}`})
		}
		return scripted.Say(scripted.Text("on we go"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	w := &leaving{t: t, Config: newConfig(t), work: t.TempDir()}
	w.Settings, err = config.Load("", false, func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": model.URL()}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Settings.Sandbox.Mode = "off"
	w.Restarts = w.restarts.Load
	w.Logger = slog.New(slog.NewTextHandler(w, nil))
	for _, name := range []string{"job", "command"} {
		if err := syscall.Mkfifo(filepath.Join(w.work, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// Write takes a line of the log.
func (w *leaving) Write(line []byte) (int, error) {
	if w.stopsAt != "" && strings.Contains(string(line), w.stopsAt) {
		w.restarts.Store(false)
	}
	return len(line), nil
}

func (w *leaving) open() *daemon.Daemon {
	w.t.Helper()
	d, err := daemon.Open(w.t.Context(), w.Config)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *leaving) submit() {
	w.t.Helper()
	c, err := client.New(client.Config{Socket: w.Socket, StateDir: w.StateDir})
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Pods().CreatePod(w.t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: w.work}}); err != nil {
		w.t.Fatal(err)
	}
	_, err = c.Submit(w.t.Context(), &poddv1.SubmitRequest{Pod: "p", Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "go"}}}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// writer is what has a pipe open to write to it.
type writer struct {
	t    *testing.T
	name string
	// pipe is the descriptor of the end to read, which does not wait.
	pipe int
}

// runs waits until a command has its pipe open.
func (w *leaving) runs(name string) *writer {
	w.t.Helper()
	pipe, err := syscall.Open(filepath.Join(w.work, name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		err = syscall.SetNonblock(pipe, true)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = syscall.Close(pipe) })
	return &writer{w.t, name, pipe}
}

// check checks whether it still runs: the pipe is at its end when nobody has it open.
func (w *writer) check(when string, runs bool) {
	w.t.Helper()
	n, err := syscall.Read(w.pipe, make([]byte, 1))
	if ended := n == 0 && err == nil; ended == runs {
		w.t.Errorf("%s: the %s runs: %v", when, w.name, !ended)
	}
}
