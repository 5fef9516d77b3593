package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// scene is what each round has: pods with their clients and followers, and the model.
type scene struct {
	settings
	dir    string
	random *rand.Rand
	tally  *Tally

	model *model
	// ctx ends with the round; stop ends it.
	ctx   context.Context
	stop  context.CancelFunc
	tasks sync.WaitGroup
	// clients are those of each podd, client the first of them.
	clients []*client.Client
	client  *client.Client
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
	// answers says that approvals are served, several that the round has more than one podd.
	answers, several bool
	// mixed says that podd is of two builds, unasked that one of them has no questions of models.
	mixed, unasked bool
	// restores says that changes of files are taken back.
	restores bool
	// replays says that the files of the workspace are compared with what the log makes of them.
	replays bool
}

// newScene starts the model. Nothing of the round takes longer than most.
func newScene(ctx context.Context, dir string, how settings, seed uint64, messages int, most time.Duration) (*scene, error) {
	s := &scene{settings: how, dir: dir, random: newRandom(seed), tally: &Tally{Rounds: 1}, unfollow: func() {}}
	var err error
	if s.model, err = newModel(messages); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithTimeout(ctx, most)
	return s, nil
}

// connect adds a client of the podd with a state directory.
func (s *scene) connect(state string) error {
	c, err := client.New(client.Config{Socket: filepath.Join(state, "podd.sock"), StateDir: state, RetryFor: roundTime})
	if err != nil {
		return err
	}
	s.clients = append(s.clients, c)
	s.client = s.clients[0]
	return nil
}

// at is one of the clients.
func (s *scene) at(n int) *client.Client { return s.clients[n%len(s.clients)] }

// close ends everything but podd.
func (s *scene) close() {
	s.stop()
	for _, p := range s.all() {
		_ = os.WriteFile(filepath.Join(p.dir, gateFile), nil, 0o600)
	}
	for _, c := range s.clients {
		_ = c.Close()
	}
	s.tasks.Wait()
	s.following.Wait()
	_ = s.model.server.Close()
}

// requests checks those that the model got.
func (s *scene) requests() {
	for _, text := range s.model.illFormed(s.api) {
		s.tally.IllFormed.add("%s", text)
	}
	s.tally.Requests += len(s.model.server.Requests())
}

// pod is a pod of the round and its followers.
type pod struct {
	name, dir string
	submits   *submitter
	// raw and resuming follow its log, each its own way.
	raw, resuming *follower
	// n is its number in the round.
	n int
	// forks are those made of it. isFork says that it is one, in the workspace of another pod.
	forks  []*pod
	isFork bool
}

// addPod makes the workspace of a pod.
func (s *scene) addPod(name string) (*pod, error) {
	p := &pod{name: name, dir: filepath.Join(s.dir, "w-"+name)}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(p.dir, readFile), []byte("There is something to read here.\n"), 0o600); err != nil {
		return nil, err
	}
	s.add(p)
	return p, nil
}

func (s *scene) add(p *pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.n = len(s.pods)
	p.submits = &submitter{pod: p.name, client: s.at(p.n)}
	p.raw, p.resuming = newFollower(p.name), newFollower(p.name)
	s.pods = append(s.pods, p)
}

// expect says that a pod of this name may exist until known is called.
func (s *scene) expect(name string) (known func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = append(s.unknown, name)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unknown = slices.DeleteFunc(s.unknown, func(n string) bool { return n == name })
	}
}

// expected are the pods that may exist.
func (s *scene) expected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

// adopt adds a fork of a pod, in the same workspace, to the round.
func (s *scene) adopt(name string, of *pod) *pod {
	p := &pod{name: name, dir: of.dir, isFork: true}
	of.forks = append(of.forks, p)
	s.add(p)
	s.followOne(p)
	return p
}

// all are the pods of the round.
func (s *scene) all() []*pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pods)
}

// follow starts the followers where they stopped.
func (s *scene) follow() {
	s.followed, s.unfollow = context.WithCancel(s.ctx)
	for _, p := range s.all() {
		s.followOne(p)
	}
}

func (s *scene) followOne(p *pod) {
	ctx := s.followed
	s.following.Go(func() { p.raw.raw(ctx, s.at(p.n+1)) })
	s.following.Go(func() { p.resuming.resuming(ctx, s.at(p.n+2)) })
}

// leave ends the followers: a pod without a follower has to work on by itself.
func (s *scene) leave() {
	s.unfollow()
	s.following.Wait()
}

// create creates the pod in podd; an error says that podd is gone or refused.
func (s *scene) create(p *pod) error {
	_, err := s.client.Pods().CreatePod(s.ctx, &poddv1.CreatePodRequest{Name: p.name, Spec: &poddv1.PodSpec{Dir: p.dir, SubPods: subPods}})
	if item.KindOf(err) == item.KindExists {
		return nil
	}
	return err
}

// busy says what a pod still has to do, in a sentence; empty when nothing is left.
func (s *scene) busy() string {
	list, err := s.client.Pods().ListPods(s.ctx, &poddv1.ListPodsRequest{})
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

// stuck says what a round that took too long waits for.
func (s *scene) stuck() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 5*time.Second)
	defer cancel()
	list, _ := s.client.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	for _, p := range s.all() {
		s.tally.Other.add("stuck: %s last %d resumes %d", p.name, p.raw.last(), p.raw.resumes)
	}
	for _, p := range list.GetPods() {
		s.tally.Other.add("stuck: %s %s last %d queued %d %s", p.GetName(), p.GetState(), p.GetLastSeq(), p.GetQueued(), p.GetStateReason())
	}
	return errStuck
}

// resting says that a pod has nothing to do: its turns ended, or podd gave the last one up,
// and no submit waits.
func resting(p *poddv1.Pod) bool {
	quiet := p.GetState() == poddv1.PodState_POD_STATE_IDLE || p.GetState() == poddv1.PodState_POD_STATE_INTERRUPTED
	return quiet && p.GetQueued() == 0 && p.GetPending() == 0
}

// subPods is how many pods a pod may have at work.
const subPods = 2
