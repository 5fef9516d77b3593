package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// roundTime bounds a round: one that takes longer is stuck. followTime bounds how long a
// stream takes to deliver the rest.
const (
	roundTime  = time.Minute
	followTime = 10 * time.Second
)

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
	// db is nil for a store in a file.
	db *database
	// mu guards pods and unknown, the pods that were requested and may exist by now.
	mu      sync.Mutex
	pods    []*pod
	unknown []string
	// following are the followers, which run while followed; unfollow ends them.
	following sync.WaitGroup
	followed  context.Context
	unfollow  context.CancelFunc
	// cancels says that podd was asked to end running commands.
	cancels bool
	// answers says that approvals are served.
	answers bool
}

// pod is a pod of the round and its followers.
type pod struct {
	name, dir string
	submits   *submitter
	// raw and resuming follow its log, each its own way.
	raw, resuming *follower
	// forked says that it has a fork, isFork that it is one, in the workspace of another
	// pod.
	forked, isFork bool
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

// close ends everything that the round started.
func (r *round) close() {
	r.stop()
	if r.podd != nil {
		r.podd.signal(syscall.SIGKILL)
		<-r.podd.exited
	}
	for _, p := range r.all() {
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

// addPod makes the workspace of a pod.
func (r *round) addPod(name string) (*pod, error) {
	p := &pod{name: name, dir: filepath.Join(r.dir, "w-"+name)}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(p.dir, readFile), []byte("There is something to read here.\n"), 0o600); err != nil {
		return nil, err
	}
	r.add(p)
	return p, nil
}

func (r *round) add(p *pod) {
	p.submits = &submitter{pod: p.name, client: r.client}
	p.raw, p.resuming = newFollower(p.name), newFollower(p.name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods = append(r.pods, p)
}

// expect says that a pod of this name may exist until known is called.
func (r *round) expect(name string) (known func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unknown = append(r.unknown, name)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unknown = slices.DeleteFunc(r.unknown, func(n string) bool { return n == name })
	}
}

// expected are the pods that may exist.
func (r *round) expected() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.unknown)
}

// adopt adds a pod that podd made in another one's workspace to the round.
func (r *round) adopt(name, dir string) *pod {
	p := &pod{name: name, dir: dir, forked: true, isFork: true}
	r.add(p)
	r.followOne(p)
	return p
}

// all are the pods of the round.
func (r *round) all() []*pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pods)
}

// follow starts the followers where they stopped.
func (r *round) follow() {
	r.followed, r.unfollow = context.WithCancel(r.ctx)
	for _, p := range r.all() {
		r.followOne(p)
	}
}

func (r *round) followOne(p *pod) {
	ctx := r.followed
	r.following.Go(func() { p.raw.raw(ctx, r.client) })
	r.following.Go(func() { p.resuming.resuming(ctx, r.client) })
}

// leave ends the followers: a pod without a follower has to work on by itself.
func (r *round) leave() {
	r.unfollow()
	r.following.Wait()
}

// create creates the pod in podd; an error says that podd is gone or refused.
func (r *round) create(p *pod) error {
	_, err := r.client.Pods().CreatePod(r.ctx, &poddv1.CreatePodRequest{Name: p.name, Spec: &poddv1.PodSpec{Dir: p.dir, SubPods: subPods}})
	if item.KindOf(err) == item.KindExists {
		return nil
	}
	return err
}

// subPods is how many pods a pod may have at work.
const subPods = 2

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

// busy says what a pod still has to do, in a sentence; empty when nothing is left.
func (r *round) busy() string {
	list, err := r.client.Pods().ListPods(r.ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return err.Error()
	}
	for _, p := range list.GetPods() {
		if !resting(p) {
			return fmt.Sprintf("%s is %s (%s) with %d submits waiting", p.GetName(), p.GetState(), p.GetStateReason(), p.GetQueued())
		}
	}
	return ""
}

// resting says that a pod has nothing to do: its turns ended, or podd gave the last one up,
// and no submit waits.
func resting(p *poddv1.Pod) bool {
	quiet := p.GetState() == poddv1.PodState_POD_STATE_IDLE || p.GetState() == poddv1.PodState_POD_STATE_INTERRUPTED
	return quiet && p.GetQueued() == 0
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

// stuck says what a round that took too long waits for.
func (r *round) stuck() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 5*time.Second)
	defer cancel()
	list, _ := r.client.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	for _, p := range r.all() {
		r.tally.Other.add("stuck: %s last %d resumes %d", p.name, p.raw.last(), p.raw.resumes)
	}
	for _, p := range list.GetPods() {
		r.tally.Other.add("stuck: %s %s last %d queued %d %s", p.GetName(), p.GetState(), p.GetLastSeq(), p.GetQueued(), p.GetStateReason())
	}
	return errStuck
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
	if err := (&inspection{r}).check(); err != nil {
		return err
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
	return r.nothingRuns()
}
