package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"podd/internal/testing/leases"
	poddv1 "podd/proto/podd/v1"
)

// NodesConfig says how to break nodes of one database.
type NodesConfig struct {
	// Command is the podd to test.
	Command Command
	// Older, if it has Argv, is another podd: each node starts the two in turns, and they begin with
	// different ones.
	Older Command
	// Certificates are the paths of node.tls for a name.
	Certificates func(name string) [3]string
	// Faults is how many there must be, in all rounds together.
	Faults int
	// Most is how many a round has at most; none means 25.
	Most int
	// Seed is that of the first round; each later one uses the next number.
	Seed uint64
	// Dir contains the rounds; one that fails stays there.
	Dir string
	// Out receives the table and the violations.
	Out io.Writer
}

const (
	// fleetTime bounds a round of nodes: one that takes longer is stuck.
	fleetTime = 8 * time.Minute
	// fleetNodes and fleetPods are how many nodes and pods it has.
	fleetNodes, fleetPods = 3, 4
	// fleetFaults is how many faults a round has.
	fleetFaults = 25
)

// RunNodes lets three podd share a PostgreSQL while they, it and the connections fail, checks what
// their clients saw, and prints a table. It returns an error when it found a violation, or could
// not run the rounds.
func RunNodes(ctx context.Context, c NodesConfig) error {
	server, err := startClockServer(ctx)
	if err != nil {
		return err
	}
	defer server.close()
	sum, counts := &Tally{}, map[string]int{}
	for seed, n := c.Seed, 0; n < c.Faults; seed++ {
		most := min(c.Faults-n, cmp.Or(c.Most, fleetFaults))
		if err := c.round(ctx, server, seed, most, sum, counts); err != nil {
			return err
		}
		n += most
	}
	table(c.Out, []string{"nodes"}, []*Tally{sum})
	faultTable(c.Out, counts, server.clock)
	fmt.Fprintf(c.Out, "writes and readings in one order: %d\n", sum.Histories)
	fmt.Fprintf(c.Out, "traces that the model of leases explains: %d, with %d actions\n", sum.Traces, sum.Actions)
	if wrong := len(sum.Failures()); wrong > 0 {
		return fmt.Errorf("%d findings", wrong)
	}
	return nil
}

// node is one podd of the database, which starts again whenever it ends.
type node struct {
	name, state string
	// down is how long it stays down after its next end, in nanoseconds; busy says that a fault
	// has it.
	down atomic.Int64
	busy atomic.Bool

	mu   sync.Mutex
	podd *process
	// starts counts those of its podd, from its own number on.
	starts int
}

func (n *node) now() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.podd
}

// up says whether the podd answers.
func (n *node) up() bool {
	p := n.now()
	return p != nil && done(p.ready) && !p.over()
}

// fleet is a round of nodes.
type fleet struct {
	*scene
	NodesConfig
	nodes  []*node
	server *clockServer
	db     *database
	// counts are the faults, by their name.
	counts map[string]int
	// harsh rounds have what costs results of commands: their starters are killed, and pods are
	// moved by force.
	harsh bool
	// shared rounds are harsh ones with pods in a shared directory, which other nodes take over.
	shared bool
	// mu guards the tally of goroutines, and what they read of each pod.
	mu       sync.Mutex
	readings map[string][]reading
	// long says that a node is down for long: two others are left.
	long atomic.Bool
	// on ends when podd is to start no more.
	on         context.Context
	off        context.CancelFunc
	supervised sync.WaitGroup
	// moving are the moves on their way.
	moving sync.WaitGroup
}

// round runs one round and adds it to the sum. It keeps its directory if it found a violation.
func (c NodesConfig) round(ctx context.Context, server *clockServer, seed uint64, faults int, sum *Tally, counts map[string]int) error {
	name := fmt.Sprintf("nodes-%d", seed)
	dir := filepath.Join(c.Dir, name)
	db, err := newDatabase(ctx, server.Server, dir, name)
	if err != nil {
		return err
	}
	defer func() { _ = db.close(ctx) }()
	mixed := c.Older.Argv != nil && !slices.Equal(c.Older.Argv, c.Command.Argv)
	how := settings{api: apis[seed%3], asks: seed/3%2 == 0, letters: !mixed, store: db.url}
	s, err := newScene(ctx, dir, how, seed, mostMessages, fleetTime)
	if err != nil {
		return err
	}
	harsh := seed%4 > 0
	s.several, s.cancels, s.mixed = true, harsh, mixed
	f := &fleet{scene: s, NodesConfig: c, db: db, server: server, counts: counts, harsh: harsh, shared: seed%4 > 1, readings: map[string][]reading{}}
	f.on, f.off = context.WithCancel(f.ctx)
	err = f.run(faults)
	f.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errStuck) {
		f.tally.Other.add("%v", err)
	}
	sum.merge(f.tally)
	if wrong := f.tally.Failures(); len(wrong) > 0 {
		fmt.Fprintf(c.Out, "FAIL %s (seed %d), kept in %s\n", name, seed, dir)
		for _, text := range wrong {
			fmt.Fprintf(c.Out, "  %.600s\n", text)
		}
		return nil
	}
	return os.RemoveAll(dir)
}

func (f *fleet) run(faults int) error {
	for i := range fleetNodes {
		if err := f.addNode(fmt.Sprintf("n%d", i+1)); err != nil {
			return err
		}
	}
	if err := f.allUp(); err != nil {
		return err
	}
	if _, err := f.server.Query(f.ctx, f.db.name, leases.Record); err != nil {
		return err
	}
	close(f.model.gate)
	for i := range fleetPods {
		p, err := f.addPod(fmt.Sprintf("p%d", i))
		if err != nil {
			return err
		}
		if err := f.createAt(p); err != nil {
			return err
		}
	}
	f.follow()
	f.serveApprovals()
	working, enough := context.WithCancel(f.ctx)
	defer enough()
	var hands sync.WaitGroup
	for _, p := range f.all() {
		h := &hand{scene: f.scene, client: f.at(p.n), ctx: working, pod: p, random: newRandom(f.random.Uint64())}
		hands.Go(h.work)
		hands.Go(func() { f.read(working, p) })
	}
	for range faults {
		if err := f.fault(); err != nil {
			return err
		}
		pause(f.ctx, time.Duration(f.random.IntN(1500))*time.Millisecond)
	}
	enough()
	if err := f.calm(); err != nil {
		return err
	}
	hands.Wait()
	return f.finish()
}

// addNode prepares a podd and starts it.
func (f *fleet) addNode(name string) error {
	n := &node{name: name, state: filepath.Join(f.dir, name), starts: len(f.nodes)}
	if err := os.MkdirAll(n.state, 0o700); err != nil {
		return err
	}
	tls := f.Certificates(name)
	address, err := freeAddress()
	if err != nil {
		return err
	}
	text := f.text() + fmt.Sprintf("[node]\nname = %q\nlisten = %q\ntls = [%q, %q, %q]\n", name, address, tls[0], tls[1], tls[2])
	if f.shared {
		text += fmt.Sprintf("shared = [%q]\n", f.dir)
	}
	if err := os.WriteFile(filepath.Join(n.state, "config.toml"), []byte(text), 0o600); err != nil {
		return err
	}
	if err := f.connect(n.state); err != nil {
		return err
	}
	f.nodes = append(f.nodes, n)
	random := newRandom(f.random.Uint64())
	f.supervised.Go(func() {
		for f.on.Err() == nil {
			f.keepUp(n)
			pause(f.on, time.Duration(n.down.Swap(0))+time.Duration(random.IntN(800))*time.Millisecond)
		}
	})
	return nil
}

// keepUp runs podd until it ends.
func (f *fleet) keepUp(n *node) {
	n.starts++
	command := f.Command
	if f.Older.Argv != nil && n.starts%2 == 0 {
		command = f.Older
	}
	p, err := startPodd(command, nil, f.args(n), f.env(n), filepath.Join(n.state, "podd.log"))
	if err != nil {
		f.finding("%s: %v", n.name, err)
		return
	}
	n.mu.Lock()
	n.podd = p
	n.mu.Unlock()
	<-p.exited
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case p.killed():
		f.tally.Kills++
	case p.code() == 0, !done(p.ready): // It was told to end, or the database did not answer at its start.
		f.tally.Ends++
	case p.sawFence && f.harsh:
		f.tally.Ends++
	default:
		f.tally.Other.add("%s ended by itself: %v", n.name, p.cmd.ProcessState)
	}
}

func (f *fleet) args(n *node) []string {
	return []string{"--state-dir", n.state, "--config", filepath.Join(n.state, "config.toml")}
}

func (f *fleet) env(n *node) []string {
	return []string{"HOME=" + n.state, "PGAPPNAME=" + n.name, "OPENAI_BASE_URL=" + f.model.server.URL()}
}

// finding notes a violation.
func (f *fleet) finding(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tally.Other.add(format, args...)
}

// allUp waits until each podd answers.
func (f *fleet) allUp() error {
	for _, n := range f.nodes {
		if !await(f.ctx, n.up) {
			f.finding("%s did not start", n.name)
			return f.stuck()
		}
	}
	if !await(f.ctx, f.known) {
		f.finding("a node does not answer another")
		return f.stuck()
	}
	return nil
}

// createAt creates a pod at a node.
func (f *fleet) createAt(p *pod) error {
	made, err := f.at(p.n).Pods().CreatePod(f.ctx, &poddv1.CreatePodRequest{Name: p.name, Spec: &poddv1.PodSpec{Dir: p.dir, SubPods: subPods}})
	if err == nil && made.GetPod().GetMovable() != f.shared {
		f.finding("pod %s is movable: %v", p.name, !f.shared)
	}
	return err
}

// calm ends all faults.
func (f *fleet) calm() error {
	if !await(f.ctx, func() bool {
		for _, n := range f.nodes {
			if n.busy.Load() {
				return false
			}
		}
		return true
	}) {
		return f.stuck()
	}
	f.moving.Wait()
	if err := f.server.setClock("+0"); err != nil {
		return err
	}
	return f.allUp()
}

// known says whether each node finds that all answer.
func (f *fleet) known() bool {
	for _, c := range f.clients {
		list, err := c.Fleet().ListNodes(f.ctx, &poddv1.ListNodesRequest{})
		if err != nil || slices.ContainsFunc(list.GetNodes(), func(n *poddv1.Node) bool { return n.GetState() != poddv1.NodeState_NODE_STATE_UP }) {
			return false
		}
	}
	return true
}

// settle waits until all work is done.
func (f *fleet) settle() error {
	if err := f.allUp(); err != nil {
		return err
	}
	if !await(f.ctx, func() bool { return f.busy() == "" && pause(f.ctx, 20*retryPause) && f.busy() == "" }) {
		f.finding("%s", f.busy())
		return f.stuck()
	}
	return nil
}

// finish lets all pods become idle, checks everything, and shuts all down.
func (f *fleet) finish() error {
	if err := f.settle(); err != nil {
		return err
	}
	for _, p := range f.all() {
		p.submits.submit(f.ctx, lastJob)
	}
	if err := f.settle(); err != nil {
		return err
	}
	f.leave()
	f.follow()
	i := &inspection{f.scene}
	if err := i.check(); err != nil {
		return err
	}
	if err := f.histories(i); err != nil {
		return err
	}
	f.requests()
	if err := f.sound(); err != nil {
		return err
	}
	f.off()
	for _, n := range f.nodes {
		n.now().signal(syscall.SIGTERM)
	}
	f.supervised.Wait()
	for _, n := range f.nodes {
		if p := n.now(); p.code() != 0 {
			f.finding("%s ended by SIGTERM while idle with %v", n.name, p.cmd.ProcessState)
		}
	}
	if err := f.leases(); err != nil {
		return err
	}
	return f.nothingRuns()
}

// leases checks what the nodes did against the model of leases, except with an older podd, which may break it.
func (f *fleet) leases() error {
	if f.mixed {
		return nil
	}
	rows, err := f.server.Query(f.ctx, f.db.name, leases.Recorded)
	if err != nil {
		return err
	}
	trace, err := leases.Read(rows)
	if err != nil {
		return err
	}
	actions, err := leases.Check(trace)
	if err != nil {
		f.finding("%v", err)
		return os.WriteFile(filepath.Join(f.dir, "trace"), rows, 0o600)
	}
	f.tally.Traces++
	f.tally.Actions += actions
	return nil
}

// sound lets podd check the database.
func (f *fleet) sound() error {
	n := f.nodes[0]
	argv := append(append(f.Command.Argv, "check"), f.args(n)...)
	c := exec.CommandContext(f.ctx, argv[0], argv[1:]...)
	c.Env = append(append(append([]string{"PATH=" + os.Getenv("PATH")}, f.Command.Env...), f.env(n)...), "PODD_STATE_DIR="+n.state)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "sound") {
		f.finding("podd check: %v: %s", err, out)
	}
	return nil
}

// close ends everything that the round started.
func (f *fleet) close() {
	f.off()
	f.stop()
	for _, n := range f.nodes {
		if p := n.now(); p != nil {
			p.signal(syscall.SIGKILL)
		}
	}
	f.supervised.Wait()
	f.moving.Wait()
	f.scene.close()
}
