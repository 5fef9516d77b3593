package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"podd/internal/testing/bench/model"
)

// rig is what all measurements share: the programs, the model endpoint, the daemons.
type rig struct {
	// dir contains everything and is removed at the end.
	dir     string
	reps    int
	baseURL string
	model   *exec.Cmd
	// podd, floor and own are compared; bwrap and landlock are podds with those sandboxes.
	podd, floor, own, bwrap, landlock *subject
	results                           results
}

// newRig builds and starts everything; with bin, it starts the programs there.
func newRig(ctx context.Context, bin string) (r *rig, err error) {
	r = &rig{}
	if r.dir, err = os.MkdirTemp("", "podd-bench-"); err != nil {
		return nil, err
	}
	build := r.build
	if bin != "" {
		build = func(context.Context) error { return os.Symlink(bin, filepath.Join(r.dir, "bin")) }
	}
	if err := errors.Join(build(ctx), r.startModel()); err != nil {
		r.close()
		return nil, err
	}
	if err := r.startSubjects(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *rig) bin(name string) string { return filepath.Join(r.dir, "bin", name) }

// build builds the programs as a release does.
func (r *rig) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace,typed", "-ldflags=-s -w", "-o", filepath.Join(r.dir, "bin")+"/",
		"podd/cmd/podd", "podd/cmd/podd-launch", "podd/cmd/podctl", "podd/internal/testing/bench", "podd/internal/testing/bench/floor", "podd/internal/testing/bench/floorctl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, output)
	}
	return nil
}

func (r *rig) startModel() error {
	r.model = exec.Command(r.bin("bench"), serveModel)
	r.model.Stderr = os.Stderr
	out, err := r.model.StdoutPipe()
	if err == nil {
		err = r.model.Start()
	}
	if err != nil {
		r.model = nil
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	r.baseURL = strings.TrimSpace(line)
	return err
}

// modelStats is what the model endpoint counted since the last request for it. It reads the answer
// to its end, or the next call would open a connection, which the endpoint would count.
func (r *rig) modelStats() (s model.Stats, err error) {
	resp, err := http.Get(strings.TrimSuffix(r.baseURL, "/v1") + "/stats")
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

func (r *rig) startSubjects(ctx context.Context) (err error) {
	for _, made := range []struct {
		at   **subject
		kind kind
	}{{&r.podd, poddKind}, {&r.floor, floorKind}, {&r.own, ownKind}, {&r.bwrap, bwrapKind}, {&r.landlock, landlockKind}} {
		if *made.at, err = r.start(ctx, made.kind, filepath.Join(r.dir, made.kind.name), nil); err != nil {
			return err
		}
	}
	return nil
}

// compared are the subjects of most measurements.
func (r *rig) compared() []*subject { return []*subject{r.podd, r.floor, r.own} }

// each calls f for each subject in turn, r.reps times; the order rotates.
func (r *rig) each(subjects []*subject, f func(s *subject) error) error {
	for rep := range r.reps {
		for i := range subjects {
			s := subjects[(i+rep)%len(subjects)]
			if err := f(s); err != nil {
				return fmt.Errorf("%s: %w", s.kind.name, err)
			}
		}
	}
	return nil
}

func (r *rig) close() {
	for _, s := range []*subject{r.podd, r.floor, r.own, r.bwrap, r.landlock} {
		if s != nil {
			s.stop()
		}
	}
	if r.model != nil {
		_ = r.model.Process.Kill()
		_ = r.model.Wait()
	}
	_ = os.RemoveAll(r.dir)
}

// stopGrace is how long a daemon may take to stop.
const stopGrace = 15 * time.Second
