package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"podd/internal/testing/pgtest"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// faketime gives a program another clock. It is Debian's libfaketime.
const faketime = "/usr/lib/*/faketime/libfaketime.so.1"

// clockServer is a PostgreSQL whose clock can be set.
type clockServer struct {
	*pgtest.Server
	dir string
	// clock is the file with the difference of its clock, empty where libfaketime is not installed.
	clock string
}

func startClockServer(ctx context.Context) (*clockServer, error) {
	// The user of the server must be able to enter it, and a socket's path has to be short.
	dir, err := os.MkdirTemp("", "podd-pg")
	if err != nil {
		return nil, err
	}
	s := &clockServer{dir: dir}
	data := filepath.Join(dir, "pg")
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(data, 0o700))
	var env []string
	if found, _ := filepath.Glob(faketime); len(found) > 0 {
		s.clock = filepath.Join(dir, "clock")
		err = errors.Join(err, s.setClock("+0"))
		env = []string{
			"LD_PRELOAD=" + found[0], "FAKETIME_TIMESTAMP_FILE=" + s.clock,
			"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DISABLE_SHM=1",
		}
	}
	if err == nil {
		s.Server, err = pgtest.StartIn(ctx, data, env)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *clockServer) close() {
	s.Stop(true)
	_ = os.RemoveAll(s.dir)
}

// setClock sets the difference between the clock and the right one.
func (s *clockServer) setClock(to string) error {
	if s.clock == "" {
		return nil
	}
	return os.WriteFile(s.clock, []byte(to+"\n"), 0o644) //nolint:gosec // The user of the server reads it.
}

// nodeFaults are what breaks, each with how often it is chosen. The harsh ones cost results of
// commands.
var nodeFaults = []struct {
	name  string
	often int
	harsh bool
	do    func(*fleet) (happened bool, err error)
}{
	{"podd killed", 4, false, (*fleet).killPodd},
	{"podd ended by SIGTERM", 1, false, (*fleet).endPodd},
	{"podd stopped for 10 s", 1, false, (*fleet).freezePodd},
	{"a pod moved", 4, false, (*fleet).movePod},
	{"PostgreSQL ended at once", 2, false, (*fleet).endDatabase},
	{"all connections to it cut", 2, false, (*fleet).breakConnections},
	{"connections cut at random", 2, false, (*fleet).cutConnections},
	{"cut between append and answer", 3, false, (*fleet).cutAnswers},
	{"connections stalled", 1, false, (*fleet).stall},
	{"its clock an hour off", 1, false, (*fleet).turnClock},
	{"starter of commands killed", 2, true, (*fleet).killStarter},
	{"podd and starter killed", 2, true, (*fleet).killBoth},
	{"podd killed, its pods moved by force", 2, true, (*fleet).killAndMove},
	{"podd stopped, its pods moved by force", 2, true, (*fleet).freezeAndMove},
}

// fault lets something fail.
func (f *fleet) fault() error {
	for f.ctx.Err() == nil {
		fault := nodeFaults[f.random.IntN(len(nodeFaults))]
		if fault.harsh && !f.harsh || f.random.IntN(4) >= fault.often {
			continue
		}
		happened, err := fault.do(f)
		if err != nil {
			return fmt.Errorf("%s: %w", fault.name, err)
		}
		if happened {
			f.counts[fault.name]++
			return nil
		}
		pause(f.ctx, 10*retryPause)
	}
	return f.stuck()
}

// faultTable prints how often each fault happened.
func faultTable(out io.Writer, counts map[string]int, clock string) {
	if clock == "" {
		fmt.Fprintln(out, "The clock of PostgreSQL stayed right: install the Debian package libfaketime.")
	}
	all := 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "%s: %d\n", name, counts[name])
		all += counts[name]
	}
	fmt.Fprintf(out, "faults: %d\n", all)
}

// victim takes a node that answers until release is called. It returns nil if the chosen one is down or taken.
func (f *fleet) victim() (n *node, release func()) {
	n = f.nodes[f.random.IntN(len(f.nodes))]
	if !n.up() || !n.busy.CompareAndSwap(false, true) {
		return nil, nil
	}
	return n, func() { n.busy.Store(false) }
}

// hit does something to the podd of a node that answers.
func (f *fleet) hit(do func(*node, *process)) (bool, error) {
	n, release := f.victim()
	if n == nil {
		return false, nil
	}
	defer release()
	do(n, n.now())
	return true, nil
}

func (f *fleet) killPodd() (bool, error) {
	return f.hit(func(_ *node, p *process) { p.signal(syscall.SIGKILL); <-p.exited })
}

func (f *fleet) endPodd() (bool, error) {
	return f.hit(func(_ *node, p *process) { p.signal(syscall.SIGTERM); <-p.exited })
}

func (f *fleet) killStarter() (bool, error) {
	killed := 0
	_, err := f.hit(func(_ *node, p *process) { killed = killChildren(p.cmd.Process.Pid) })
	return killed > 0, err
}

func (f *fleet) killBoth() (bool, error) {
	return f.hit(func(_ *node, p *process) {
		killChildren(p.cmd.Process.Pid)
		p.signal(syscall.SIGKILL)
		<-p.exited
	})
}

// killChildren kills the processes that start commands for podd.
func killChildren(podd int) (killed int) {
	found, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range found {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(podd) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		// Not podd's git, which names podd's references.
		program, _, _ := strings.Cut(string(line), "\x00")
		if strings.Contains(program, "podd") && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// freezeFor is how long a podd is stopped: longer than its lease.
const freezeFor = 10 * time.Second

func (f *fleet) freezePodd() (bool, error) { return f.freeze(nil) }

// freezeAndMove moves the pods of a podd that does not answer, which then goes on.
func (f *fleet) freezeAndMove() (bool, error) { return f.freeze(f.moveAway) }

// longVictim is victim for what takes long, of which there is one at a time.
func (f *fleet) longVictim() (n *node, release func()) {
	if !f.long.CompareAndSwap(false, true) {
		return nil, nil
	}
	n, free := f.victim()
	if n == nil {
		f.long.Store(false)
		return nil, nil
	}
	return n, func() {
		free()
		f.long.Store(false)
	}
}

// freeze stops a podd for a while, and goes on meanwhile.
func (f *fleet) freeze(during func(*node)) (bool, error) {
	n, release := f.longVictim()
	if n == nil {
		return false, nil
	}
	p := n.now()
	p.signal(syscall.SIGSTOP)
	f.tasks.Go(func() {
		defer release()
		defer p.signal(syscall.SIGCONT)
		over, cancel := context.WithTimeout(f.ctx, freezeFor)
		defer cancel()
		if during != nil {
			during(n)
		}
		<-over.Done()
	})
	return true, nil
}

// killAndMove kills a podd and moves its pods before it starts again.
func (f *fleet) killAndMove() (bool, error) {
	n, release := f.longVictim()
	if n == nil {
		return false, nil
	}
	n.down.Store(int64(freezeFor))
	p := n.now()
	p.signal(syscall.SIGKILL)
	<-p.exited
	f.tasks.Go(func() {
		defer release()
		f.moveAway(n)
	})
	return true, nil
}

// other is a node besides this one.
func (f *fleet) other(n *node) int {
	i := slices.Index(f.nodes, n)
	return (i + 1) % len(f.nodes)
}

// moveAway moves the pods of a node by force, once it is away.
func (f *fleet) moveAway(n *node) {
	to := f.other(n)
	ctx, cancel := context.WithTimeout(f.ctx, freezeFor)
	defer cancel()
	client := f.at(to)
	await(ctx, func() bool {
		list, err := client.Fleet().ListNodes(ctx, &poddv1.ListNodesRequest{})
		return err == nil && slices.ContainsFunc(list.GetNodes(), func(s *poddv1.Node) bool {
			return s.GetName() == n.name && s.GetState() == poddv1.NodeState_NODE_STATE_AWAY
		})
	})
	for _, p := range f.all() {
		_, err := client.Fleet().MovePod(ctx, &poddv1.MovePodRequest{Pod: p.name, Node: f.nodes[to].name, Force: true})
		f.moved(p, "move by force", err)
	}
}

// movePod gives a pod to a node that answers, and goes on meanwhile.
func (f *fleet) movePod() (bool, error) {
	pods := f.all()
	p, to, by := pods[f.random.IntN(len(pods))], f.nodes[f.random.IntN(len(f.nodes))], f.random.IntN(len(f.nodes))
	if !to.up() || to.busy.Load() || f.nodes[by].busy.Load() {
		return false, nil
	}
	f.moving.Go(func() {
		ctx, cancel := context.WithTimeout(f.ctx, roundTime)
		defer cancel()
		_, err := f.at(by).Fleet().MovePod(ctx, &poddv1.MovePodRequest{Pod: p.name, Node: to.name})
		f.moved(p, "move", err)
	})
	return true, nil
}

// moved counts a move. A refusal is right where a node is down or has the pod already.
func (f *fleet) moved(p *pod, what string, err error) {
	switch k := item.KindOf(err); {
	case err == nil, k == item.KindUnavailable, errors.Is(err, context.DeadlineExceeded), f.ctx.Err() != nil:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.tally.act(what, err == nil)
	case k != item.KindPrecondition && k != item.KindExhausted && k != item.KindNotFound: // A client may have deleted it.
		f.finding("%s: %s: %v", p.name, what, err)
	}
}

func (f *fleet) endDatabase() (bool, error) { return true, f.db.stop(f.ctx, func() {}, f.random) }

func (f *fleet) breakConnections() (bool, error) {
	f.db.proxy.Break()
	return true, nil
}

func (f *fleet) cutConnections() (bool, error) {
	f.db.cut(f.ctx, func() {}, f.random)
	return true, nil
}

// cutAnswers cuts some answers, at their start or in their middle.
func (f *fleet) cutAnswers() (bool, error) {
	for range 1 + f.random.IntN(4) {
		f.db.proxy.CutAnswers(f.random.IntN(2) * f.random.IntN(60))
	}
	return true, nil
}

// stall lets no data pass for a while, which may be longer than podd waits for an answer.
func (f *fleet) stall() (bool, error) {
	release := f.db.proxy.Hold()
	defer release()
	pause(f.ctx, time.Duration(200+f.random.IntN(5000))*time.Millisecond)
	return true, nil
}

func (f *fleet) turnClock() (bool, error) {
	if f.server.clock == "" {
		return false, nil
	}
	return true, f.server.setClock([]string{"+0", "+1h", "-1h"}[f.random.IntN(3)])
}

// freeAddress is an unused address. Outgoing connections use other addresses, so they cannot take its port.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
