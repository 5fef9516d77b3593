//go:build integrations

package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// follower is podctl tail -f, from the first entry.
type follower struct {
	cmd       *exec.Cmd
	out, errs rig.Buffer
}

func follow(t *testing.T, w *rig.World, pod string) *follower {
	t.Helper()
	f := &follower{cmd: w.Command("podctl", "tail", pod, "--after", "0", "-f", "-o", "json")}
	f.cmd.Stdout, f.cmd.Stderr = &f.out, &f.errs
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.cmd.Process.Kill()
		err := f.cmd.Wait()
		if t.Failed() {
			t.Logf("a follower of pod %s ended with %v: %s\n%s", pod, err, f.errs.String(), f.out.String())
		}
	})
	return f
}

// wantAll awaits entry last, and checks that each entry came once, in order.
func (f *follower) wantAll(t *testing.T, last int) {
	t.Helper()
	rig.Await(t, "the last entry", func() bool { return strings.Contains(f.out.String(), fmt.Sprintf(`"seq":"%d"`, last)) })
	next := 1
	for line := range strings.Lines(f.out.String()) {
		var m struct{ Entry map[string]any }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Entry == nil {
			continue
		}
		if fmt.Sprint(m.Entry["seq"]) != fmt.Sprint(next) {
			t.Fatalf("after entry %d came %v", next-1, m.Entry["seq"])
		}
		next++
	}
}

// A pod moves between running nodes in the middle of a turn, there and back. The turn goes on,
// no command runs twice, and followers at each node miss nothing.
func TestNodesHandOver(t *testing.T) {
	c := newCluster(t)
	gate := make(chan struct{})
	n1, n2, n3 := c.node("n1", steps(6, gate)), c.node("n2", steps(6, gate)), c.node("n3", steps(6, nil))
	all := []*rig.World{n1, n2, n3}
	for _, w := range all {
		w.Start()
	}
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the third request", func() bool { return n1.Requests() >= 4 })
	var followers []*follower
	for _, w := range all {
		followers = append(followers, follow(t, w, "one"))
	}
	fails(t, n3, `no node named "n9"`, "move", "one", "n9")
	fails(t, n3, "nowhere\" can't be opened", "move", "one", "n2", "--dir", filepath.Join(n1.Dir, "nowhere"))
	for i, w := range []*rig.World{n2, n1, n2} {
		before := w.Requests()
		name := []string{"n2", "n1"}[i%2]
		if said := n3.Podctl("move", "one", name); !strings.Contains(said, "moved pod one to "+name) {
			t.Errorf("podctl move said %q", said)
		}
		rig.Await(t, "a request at "+name, func() bool { return w.Requests() > before })
	}
	n1.Podctl("submit", "-p", "one", "second")
	close(gate)
	rig.Await(t, "the end of both turns", func() bool { return kinds(t, n3, "one", "turn_ended") == 2 })
	wantLines(t, n1, 6)
	n3.Podctl("move", "one", "n3")
	n1.Podctl("submit", "-p", "one", "third")
	rig.Await(t, "the third turn", func() bool { return kinds(t, n1, "one", "turn_ended") == 3 })
	for _, f := range followers {
		f.wantAll(t, len(entries(t, n3, "one")))
	}
	n2.Stop()
	fails(t, n1, "node n2 does not run: start podd there, or move the pod to another node", "move", "one", "n2")
}

// A node is killed while it gives a pod away or gets it. One node has the pod, the turn goes on
// there, and no command runs twice.
func TestNodesKilledInHandOver(t *testing.T) {
	for _, victim := range []string{"n1", "n2"} {
		t.Run(victim, func(t *testing.T) {
			c := newCluster(t)
			gate := make(chan struct{})
			n1, n2, n3 := c.node("n1", steps(6, gate)), c.node("n2", steps(6, gate)), c.node("n3", steps(0, nil))
			for _, w := range []*rig.World{n1, n2, n3} {
				w.Start()
			}
			n1.Podctl("create", "one", "--dir", n1.Workspace)
			n1.Podctl("submit", "-p", "one", "go")
			rig.Await(t, "the third request", func() bool { return n1.Requests() >= 4 })
			f := follow(t, n3, "one")
			release := c.hold()
			move := n3.Command("podctl", "move", "one", "n2")
			if err := move.Start(); err != nil {
				t.Fatal(err)
			}
			c.awaitBlocked(t)
			killed := map[string]*rig.World{"n1": n1, "n2": n2}[victim]
			killed.Kill()
			release()
			_ = move.Wait()
			killed.Start()
			close(gate)
			rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "one", "turn_ended") == 1 })
			wantLines(t, n1, 6)
			f.wantAll(t, len(entries(t, n3, "one")))
		})
	}
}

// A command that outlives the grace of a stop ends on the old node, and is not started again on
// the new one. So does a job.
func TestNodesHandOverCommand(t *testing.T) {
	c := newCluster(t)
	calls := []scripted.Call{
		{ID: "c0", Name: "shell", Arguments: `{"command":"exec 8> job; flock 8; echo up > up; sleep 600","background":true}`},
		{ID: "c1", Name: "shell", Arguments: `{"command":"exec 9> held; flock 9; echo 0 >> lines; sleep 600"}`},
	}
	var asked atomic.Int64
	n1 := c.node("n1", func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(calls[asked.Add(1)-1]) })
	n2 := c.node("n2", steps(0, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "one", "go")
	for _, name := range []string{"up", "lines"} {
		rig.Await(t, "a command", func() bool { b, _ := os.ReadFile(filepath.Join(n1.Workspace, name)); return len(b) > 0 })
	}
	n1.Podctl("move", "one", "n2")
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n2, "one", "turn_ended") > 0 })
	log := n1.Podctl("tail", "one", "--after", "0", "-o", "json")
	for _, want := range []string{"may have taken effect", "the pod moved to another node"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
	for _, name := range []string{"job", "held"} {
		f, err := os.Open(filepath.Join(n1.Workspace, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rig.Await(t, "the end of a command", func() bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil })
	}
	wantLines(t, n1, 1)
}

// TestHandOverTime measures PODD_MOVES moves of a pod whose turn runs: from the last entry of
// the old node to the first of the new one.
func TestHandOverTime(t *testing.T) {
	moves, _ := strconv.Atoi(os.Getenv("PODD_MOVES"))
	if moves == 0 {
		t.Skip("set PODD_MOVES to the number of moves")
	}
	c := newCluster(t)
	works := func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Call{ID: rand.Text(), Name: "shell", Arguments: fmt.Sprintf(`{"command":"echo %s"}`, rand.Text())})
	}
	n1, n2 := c.node("n1", works), c.node("n2", works)
	for name, w := range map[string]*rig.World{"n1": n1, "n2": n2} {
		w.Configure(c.config(name, c.ca.Node(name)) + "[limits]\nmax_steps = 1000000\nmax_tool_calls = 1000000\n")
		w.Start()
	}
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "one", "go")
	for i := range moves {
		w, name := n2, "n2"
		if i%2 == 1 {
			w, name = n1, "n1"
		}
		before := w.Requests()
		n1.Podctl("move", "one", name)
		rig.Await(t, "a request at "+name, func() bool { return w.Requests() > before })
	}
	var took []time.Duration
	var last time.Time
	for _, e := range entries(t, n1, "one") {
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(e["time"]))
		if err != nil {
			t.Fatal(err)
		}
		if e["recovered"] != nil {
			took = append(took, at.Sub(last))
		}
		last = at
	}
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatal("no turn was moved")
	}
	t.Logf("%d moves of a running turn: p50 %v, p99 %v", len(took), took[len(took)/2], took[len(took)*99/100])
}

// hold keeps changes of the owner of a pod waiting until release is called.
func (c *cluster) hold() (release func()) {
	c.t.Helper()
	cmd := exec.Command("psql", c.server.URL())
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	fmt.Fprintln(in, "SET application_name = 'hold'; BEGIN; LOCK TABLE pods IN SHARE MODE;")
	rig.Await(c.t, "the lock", func() bool {
		return c.ask("SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE a.application_name = 'hold' AND l.mode = 'ShareLock' AND l.granted") != "0"
	})
	return func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// awaitBlocked awaits a statement that waits for the lock of hold.
func (c *cluster) awaitBlocked(t *testing.T) {
	t.Helper()
	rig.Await(t, "a change that waits", func() bool {
		return c.ask("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'pods'::regclass") != "0"
	})
}

// ask is the one value that a query has.
func (c *cluster) ask(query string) string {
	c.t.Helper()
	out, err := exec.Command("psql", c.server.URL(), "-Atc", query).Output()
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
