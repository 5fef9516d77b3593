package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"podd/pkg/client"
)

// kind is a sort of daemon. Its name is that of its column.
type kind struct {
	name, program, socket, config string
	args                          []string
}

// poddConfig is podd's whole configuration here: no call asks, and a turn may be long.
const poddConfig = "model = \"bench\"\nask = \"never\"\n[limits]\nmax_steps = 1000000\nmax_tool_calls = 1000000\n"

var (
	floorKind    = kind{name: "floor", program: "floor", socket: "floor.sock"}
	ownKind      = kind{name: "own-SSE floor", program: "floor", socket: "floor.sock", args: []string{"-own-sse"}}
	poddKind     = kind{name: "podd", program: "podd", socket: "podd.sock", config: poddConfig + "[sandbox]\nmode = \"off\"\n"}
	bwrapKind    = kind{name: "podd, bwrap", program: "podd", socket: "podd.sock", config: poddConfig + "[sandbox]\nmode = \"bwrap\"\n"}
	landlockKind = kind{name: "podd, Landlock", program: "podd", socket: "podd.sock", config: poddConfig + "[sandbox]\nmode = \"landlock\"\n"}
)

// subject is a running daemon.
type subject struct {
	kind   kind
	dir    string
	cmd    *exec.Cmd
	pid    int
	client *client.Client
	// ready is how long it took to become ready.
	ready time.Duration
	// said is closed at the end of its output.
	said chan struct{}
	pods int
}

// start starts a daemon in a directory, below a wrapping command if there is one, and
// waits until it is ready.
func (r *rig) start(ctx context.Context, k kind, dir string, wrapper []string) (*subject, error) {
	s := &subject{kind: k, dir: dir, said: make(chan struct{})}
	for _, made := range []string{s.state(), s.work()} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	argv := append(append([]string{}, wrapper...), r.bin(k.program))
	if k.program == "podd" {
		config := filepath.Join(s.state(), "config.toml")
		if err := os.WriteFile(config, []byte(k.config), 0o600); err != nil {
			return nil, err
		}
		argv = append(argv, "--state-dir", s.state(), "--config", config)
	} else {
		argv = append(argv, "-dir", s.state(), "-base-url", r.baseURL)
	}
	s.cmd = exec.Command(argv[0], append(argv[1:], k.args...)...)
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OPENAI_BASE_URL=" + r.baseURL}
	if err := s.launch(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	return s, nil
}

// launch starts the process and waits for the line that says that it is ready.
func (s *subject) launch(ctx context.Context) error {
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.pid = s.cmd.Process.Pid
	ready := make(chan time.Duration, 1)
	var lines []string
	go func() {
		defer close(s.said)
		scanner := bufio.NewScanner(stderr)
		for scanner.Scan() {
			text := scanner.Text()
			if strings.Contains(text, s.kind.program+" ready") {
				ready <- time.Since(begun)
				lines = nil
			}
			if len(lines) < 20 {
				lines = append(lines, text)
			}
		}
	}()
	select {
	case s.ready = <-ready:
	case <-s.said:
		return fmt.Errorf("%w: %s", errors.Join(errors.New("it ended"), s.cmd.Wait()), strings.Join(lines, "\n"))
	case <-ctx.Done():
		s.stop()
		return context.Cause(ctx)
	}
	s.client, err = client.New(client.Config{Socket: s.socket(), StateDir: s.state(), RetryFor: -1})
	return err
}

// A daemon's directory has its state and the workspace of its pods.
func (s *subject) state() string  { return filepath.Join(s.dir, "state") }
func (s *subject) work() string   { return filepath.Join(s.dir, "work") }
func (s *subject) socket() string { return filepath.Join(s.state(), s.kind.socket) }

// stop ends the daemon in order and reaps it. A second call does nothing.
func (s *subject) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	if s.client != nil {
		_ = s.client.Close()
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(stopGrace, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	<-s.said
	_ = s.cmd.Wait()
}
