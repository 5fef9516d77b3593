package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// roundTime bounds a round: what takes longer is stuck.
const roundTime = time.Minute

// round is one state directory with its podd, its clients and its model.
type round struct {
	command Command
	settings
	dir    string
	random *rand.Rand
	tally  *Tally

	model *model
	// ctx ends with the round; stop ends it.
	ctx    context.Context
	stop   context.CancelFunc
	tasks  sync.WaitGroup
	client *client.Client
	podd   *process
	pods   []*pod
	// following are the followers; unfollow ends them.
	following sync.WaitGroup
	unfollow  context.CancelFunc
	// cancels says that podd was told to end commands that run.
	cancels bool
	// answers says that approvals are served.
	answers bool
}

// pod is a pod of the round and who looks after it.
type pod struct {
	name, dir string
	submits   *submitter
	// raw and resuming follow its log, one by each way.
	raw, resuming *follower
}

// newRound makes the directory and the model. most is how many messages a request may
// have, 0 for any number.
func newRound(ctx context.Context, command Command, dir string, s settings, seed uint64, most int) (*round, error) {
	r := &round{command: command, settings: s, dir: dir, random: newRandom(seed), tally: &Tally{Rounds: 1}}
	if err := os.MkdirAll(filepath.Join(dir, "s"), 0o700); err != nil {
		return nil, err
	}
	if err := s.write(dir); err != nil {
		return nil, err
	}
	var err error
	if r.model, err = newModel(most); err != nil {
		return nil, err
	}
	r.client, err = client.New(client.Config{
		Socket: filepath.Join(dir, "s", "podd.sock"), StateDir: filepath.Join(dir, "s"), RetryFor: roundTime,
	})
	if err != nil {
		return nil, errors.Join(err, r.model.server.Close())
	}
	r.ctx, r.stop = context.WithTimeout(ctx, roundTime)
	r.unfollow = func() {}
	return r, nil
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// close ends all that the round started.
func (r *round) close() {
	r.stop()
	if r.podd != nil {
		r.podd.signal(syscall.SIGKILL)
		<-r.podd.exited
	}
	for _, p := range r.pods {
		_ = os.WriteFile(filepath.Join(p.dir, gateFile), nil, 0o600)
	}
	_ = r.client.Close()
	r.tasks.Wait()
	r.following.Wait()
	_ = r.model.server.Close()
}

// start starts podd, below a tracer if there is one.
func (r *round) start(tracer ...string) error {
	state := filepath.Join(r.dir, "s")
	var err error
	r.podd, err = startPodd(r.command, tracer,
		[]string{"--state-dir", state, "--config", filepath.Join(r.dir, "config.toml")},
		[]string{"HOME=" + r.dir, "OPENAI_BASE_URL=" + r.model.server.URL()},
		filepath.Join(r.dir, "podd.log"))
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

// drained waits for the end that podd was asked for.
func (r *round) drained() {
	<-r.podd.exited
	r.tally.Ends++
	if r.podd.code() != 0 {
		r.tally.Other.add("podd ended by SIGTERM with %v", r.podd.cmd.ProcessState)
	}
}

// up starts podd again when it has ended, and waits until it answers and is sound.
func (r *round) up() error {
	if r.podd == nil || r.podd.over() {
		if err := r.start(); err != nil {
			return err
		}
	}
	if !r.podd.answers() {
		r.tally.Other.add("podd did not start: %v", r.podd.cmd.ProcessState)
		return errStuck
	}
	r.honest()
	return nil
}

var errStuck = errors.New("the round cannot go on")

// honest checks that no pod is said to run that nobody runs.
func (r *round) honest() {
	const tries = 50
	for try := range tries {
		list, err := r.client.Pods().ListPods(r.ctx, &poddv1.ListPodsRequest{})
		if err != nil {
			return // podd has gone again, which is found elsewhere.
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

// addPod makes the workspace of a pod.
func (r *round) addPod(name string) (*pod, error) {
	p := &pod{name: name, dir: filepath.Join(r.dir, "w-"+name)}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(p.dir, readFile), []byte("There is something to read here.\n"), 0o600); err != nil {
		return nil, err
	}
	p.submits = &submitter{pod: name, client: r.client}
	p.raw, p.resuming = newFollower(name), newFollower(name)
	r.pods = append(r.pods, p)
	return p, nil
}

// follow starts the followers, where they were.
func (r *round) follow() {
	var ctx context.Context
	ctx, r.unfollow = context.WithCancel(r.ctx)
	for _, p := range r.pods {
		r.following.Go(func() { p.raw.raw(ctx, r.client) })
		r.following.Go(func() { p.resuming.resuming(ctx, r.client) })
	}
}

// leave ends the followers: a pod that nobody looks at has to go on by itself.
func (r *round) leave() {
	r.unfollow()
	r.following.Wait()
}

// create makes the pod in podd; an error says that podd has gone, or will not.
func (r *round) create(p *pod) error {
	_, err := r.client.Pods().CreatePod(r.ctx, &poddv1.CreatePodRequest{Name: p.name, Spec: &poddv1.PodSpec{Dir: p.dir}})
	if item.KindOf(err) == item.KindExists {
		return nil
	}
	return err
}

// createAll makes all pods, over as many lives of podd as it takes.
func (r *round) createAll() error {
	for _, p := range r.pods {
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

// busy says what a pod still has to do, in a sentence; empty when nothing is left.
func (r *round) busy() string {
	list, err := r.client.Pods().ListPods(r.ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return err.Error()
	}
	for _, p := range list.GetPods() {
		done := p.GetState() == poddv1.PodState_POD_STATE_IDLE || p.GetState() == poddv1.PodState_POD_STATE_INTERRUPTED
		if !done || p.GetQueued() > 0 {
			return fmt.Sprintf("%s is %s (%s) with %d submits waiting", p.GetName(), p.GetState(), p.GetStateReason(), p.GetQueued())
		}
	}
	return ""
}

// settle keeps podd up until all work is done.
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

// stuck says what a round that took too long waits for.
func (r *round) stuck() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 5*time.Second)
	defer cancel()
	list, err := r.client.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	r.tally.Other.add("stuck: %v %v", list.GetPods(), err)
	return errStuck
}

// finish lets podd come to rest, checks everything, and ends podd in good order.
func (r *round) finish() error {
	if err := r.up(); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	r.leave()
	r.follow()
	for _, p := range r.pods {
		if err := r.check(p); err != nil {
			return err
		}
	}
	for _, text := range r.model.illFormed(r.api) {
		r.tally.IllFormed.add("%s", text)
	}
	r.tally.Requests += len(r.model.server.Requests())
	r.podd.signal(syscall.SIGTERM)
	<-r.podd.exited
	if r.podd.code() != 0 {
		r.tally.Other.add("podd ended by SIGTERM while idle with %v", r.podd.cmd.ProcessState)
	}
	return nil
}

// check holds one pod to all that is known of it.
func (r *round) check(p *pod) error {
	var log []*poddv1.Entry
	for m, err := range r.client.Stream(r.ctx, client.StreamOptions{Pod: p.name}) {
		if err != nil {
			return fmt.Errorf("the log of %s cannot be read: %w", p.name, err)
		}
		if e := m.GetEntry(); e != nil {
			log = append(log, e)
		}
	}
	c := checkLog(p.name, log, r.tally)
	c.submits(p.submits.all())
	if err := c.commands(p.dir, r.model.calls, r.cancels); err != nil {
		return err
	}
	for _, f := range []*follower{p.raw, p.resuming} {
		ctx, cancel := context.WithTimeout(r.ctx, 10*time.Second)
		await(ctx, func() bool { return f.last() >= int64(len(log)) })
		cancel()
		f.compare(log)
		r.tally.Gaps = append(r.tally.Gaps, f.gaps...)
		r.tally.Duplicates = append(r.tally.Duplicates, f.duplicates...)
		r.tally.Other = append(r.tally.Other, f.changed...)
	}
	r.tally.Other = append(r.tally.Other, p.submits.wrong...)
	return nil
}
