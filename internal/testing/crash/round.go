package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	poddv1 "podd/proto/podd/v1"
)

// roundTime bounds a round: one that takes longer is stuck. followTime bounds how long a
// stream takes to deliver the rest.
const (
	roundTime  = 3 * time.Minute
	followTime = 10 * time.Second
)

// round is one state directory with its podd, its clients and its model.
type round struct {
	*scene
	command Command
	podd    *process
	// db is nil for a store in a file, disk for a round whose power is not cut.
	db   *database
	disk *disk
}

// newRound makes the directory and the model. most is how many messages a request may
// have, 0 for any number, limit how long it may take.
func newRound(ctx context.Context, command Command, dir string, s settings, seed uint64, most int, limit time.Duration) (*round, error) {
	if err := os.MkdirAll(filepath.Join(dir, "s"), 0o700); err != nil {
		return nil, err
	}
	if err := s.write(dir); err != nil {
		return nil, err
	}
	sc, err := newScene(ctx, dir, s, seed, most, limit)
	if err != nil {
		return nil, err
	}
	r := &round{scene: sc, command: command}
	if err := r.connect(filepath.Join(dir, "s")); err != nil {
		return nil, errors.Join(err, r.model.server.Close())
	}
	return r, nil
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// close ends everything that the round started.
func (r *round) close() {
	r.stop()
	if r.podd != nil {
		r.podd.signal(syscall.SIGKILL)
		<-r.podd.exited
	}
	r.scene.close()
}

// start starts podd, below a tracer if there is one.
func (r *round) start(tracer ...string) error {
	state, logs := filepath.Join(r.dir, "s"), r.dir
	if r.disk != nil {
		tracer, logs = append(r.disk.machine(), tracer...), r.disk.dir
	}
	var err error
	r.podd, err = startPodd(r.command, tracer,
		[]string{"--state-dir", state, "--config", filepath.Join(r.dir, "config.toml")},
		[]string{"HOME=" + r.dir, "OPENAI_BASE_URL=" + r.model.server.URL()},
		filepath.Join(logs, "podd.log"))
	return err
}

// kill ends podd by SIGKILL.
func (r *round) kill() {
	r.podd.signal(syscall.SIGKILL)
	<-r.podd.exited
	r.tally.Kills++
}

// terminate ends podd as a supervisor does; twice cuts the drain short.
func (r *round) terminate(twice bool) {
	r.cancels = r.cancels || twice
	r.podd.signal(syscall.SIGTERM)
	if twice {
		pause(r.ctx, time.Duration(r.random.IntN(30))*time.Millisecond)
		r.podd.signal(syscall.SIGTERM)
	}
	r.drained()
}

// drained waits for the requested end of podd.
func (r *round) drained() {
	<-r.podd.exited
	r.tally.Ends++
	if r.podd.code() != 0 {
		r.tally.Other.add("podd ended by SIGTERM with %v", r.podd.cmd.ProcessState)
	}
}

// up starts podd again if it has ended, and waits until it is ready and healthy.
func (r *round) up() error {
	if r.podd == nil || r.podd.over() {
		if err := r.start(); err != nil {
			return err
		}
	}
	if !r.answering() {
		r.tally.Other.add("podd did not start: %v", r.podd.cmd.ProcessState)
		return errStuck
	}
	r.honest()
	return nil
}

// answering waits until podd says that it is ready, or answers when its output is lost;
// false when it ended before.
func (r *round) answering() bool {
	answered := func() bool {
		if done(r.podd.ready) {
			return true
		}
		_, err := r.client.Admin().GetStatus(r.ctx, &poddv1.GetStatusRequest{})
		return err == nil
	}
	return await(r.ctx, func() bool { return r.podd.over() || answered() }) && !r.podd.over()
}

var errStuck = errors.New("the round cannot go on")

// honest checks that podd lists no more pods as running than run.
func (r *round) honest() {
	const tries = 50
	for try := range tries {
		list, err := r.client.Pods().ListPods(r.ctx, &poddv1.ListPodsRequest{})
		if err != nil {
			return // podd is gone again, which another check finds.
		}
		status, err := r.client.Admin().GetStatus(r.ctx, &poddv1.GetStatusRequest{})
		if err != nil {
			return
		}
		said := 0
		for _, p := range list.GetPods() {
			if p.GetState() == poddv1.PodState_POD_STATE_RUNNING || p.GetState() == poddv1.PodState_POD_STATE_RESUMING {
				said++
			}
		}
		if said <= int(status.GetPodsRunning()) {
			return
		}
		if try == tries-1 {
			r.tally.Other.add("%d pods are said to run and %d do: %v", said, status.GetPodsRunning(), list.GetPods())
		}
		pause(r.ctx, retryPause)
	}
}

// createAll creates all pods, over as many restarts of podd as that takes.
func (r *round) createAll() error {
	for _, p := range r.all() {
		for err := r.create(p); err != nil; err = r.create(p) {
			if !pause(r.ctx, retryPause) {
				return err
			}
			if err := r.up(); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle keeps podd running until all work is done.
func (r *round) settle() error {
	for {
		if r.podd.over() {
			r.tally.Other.add("podd ended by itself: %v", r.podd.cmd.ProcessState)
		}
		if err := r.up(); err != nil {
			return err
		}
		why := r.busy()
		if why == "" {
			return nil
		}
		if !pause(r.ctx, 2*retryPause) {
			return r.stuck()
		}
	}
}

// finish lets all pods become idle, checks everything, and shuts podd down.
func (r *round) finish() error {
	if err := r.up(); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	r.leave()
	r.follow()
	if err := (&inspection{r.scene}).check(); err != nil {
		return err
	}
	r.requests()
	r.podd.signal(syscall.SIGTERM)
	<-r.podd.exited
	if r.podd.code() != 0 {
		r.tally.Other.add("podd ended by SIGTERM while idle with %v", r.podd.cmd.ProcessState)
	}
	return r.nothingRuns()
}
