//go:build integrations

package postgres

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podd/integrations/rig"
	"podd/internal/testing/certs"
	"podd/internal/testing/pgtest"
	"podd/pkg/llm/scripted"
)

// cluster is a database and its nodes n1, n2, ...
type cluster struct {
	t      testing.TB
	server *pgtest.Server
	ca     *certs.Authority
	// addresses are those of the nodes.
	addresses map[string]string
}

func newCluster(t testing.TB) *cluster {
	return &cluster{t: t, server: start(t), ca: certs.New(t), addresses: map[string]string{}}
}

// node prepares a podd that has not started.
func (c *cluster) node(name string, h scripted.Handler) *rig.World {
	c.t.Helper()
	c.addresses[name] = rig.Address()
	w := rig.Prepare(c.t, h)
	w.Configure(c.config(name, c.ca.Node(name)))
	return w
}

func (c *cluster) config(name string, files [3]string) string {
	return fmt.Sprintf("ask = \"never\"\n[store]\nurl = %q\n[node]\nname = %q\nlisten = %q\ntls = [%q, %q, %q]\n",
		c.server.URL(), name, c.addresses[name], files[0], files[1], files[2])
}

// fails runs podctl, which must fail and say so.
func fails(t *testing.T, w *rig.World, says string, args ...string) {
	t.Helper()
	out, err := w.Command("podctl", args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), says) {
		t.Errorf("podctl %v: %v, %q, want %q", args, err, out, says)
	}
}

// nodes are the states of all nodes, as one of them sees them.
func nodes(t *testing.T, w *rig.World) map[string]string {
	t.Helper()
	states := map[string]string{}
	for line := range strings.Lines(w.Podctl("nodes", "-o", "json")) {
		var n struct{ Name, State string }
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatal(err)
		}
		states[n.Name] = strings.ToLower(strings.TrimPrefix(n.State, "NODE_STATE_"))
	}
	return states
}

// Every call works at each node. A node that is killed is named, its pods can be read and
// followed elsewhere, and they go on once it is back: nothing is lost, no command runs twice.
func TestNodes(t *testing.T) {
	c := newCluster(t)
	gate := make(chan struct{})
	n1, n2, n3 := c.node("n1", steps(6, gate)), c.node("n2", steps(1, nil)), c.node("n3", steps(1, nil))
	for _, w := range []*rig.World{n1, n2, n3} {
		w.Start()
	}
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	if list := n2.Podctl("list"); !strings.Contains(list, "n1:"+n1.Workspace) {
		t.Errorf("podctl list at n2:\n%s", list)
	}
	follow := n2.Command("podctl", "tail", "one", "--after", "0", "-f")
	var followed rig.Buffer
	follow.Stdout = &followed
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	n3.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the third request", func() bool { return n1.Requests() >= 4 })
	rig.Await(t, "the calls at n2", func() bool { return strings.Contains(followed.String(), "echo 2") })
	n1.Kill()
	rig.Await(t, "the end of the lease", func() bool { return nodes(t, n3)["n1"] == "away" })
	fails(t, n2, "node n1, which has pod one, has not answered for", "cancel", "one")
	rig.Await(t, "an alert", func() bool { return strings.Contains(n2.Podctl("alerts"), "node n1 at "+c.addresses["n1"]) })
	if list := n3.Podctl("nodes"); !strings.Contains(list, "n1 is away since") || !strings.Contains(list, "its 1 pod can be read") {
		t.Errorf("podctl nodes at n3:\n%s", list)
	}
	if log := n3.Podctl("tail", "one", "--after", "0"); !strings.Contains(log, "echo 2") {
		t.Errorf("the log at n3:\n%s", log)
	}
	waits := n3.Command("podctl", "submit", "-p", "one", "again")
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	n1.Start()
	close(gate)
	if err := waits.Wait(); err != nil {
		t.Errorf("the submit while n1 was away: %v", err)
	}
	rig.Await(t, "the end of both turns at n2", func() bool {
		return strings.Count(followed.String(), "done") >= 2 && kinds(t, n2, "one", "turn_ended") == 2
	})
	_ = follow.Process.Kill()
	_ = follow.Wait()
	wantLines(t, n1, 6)
	if at1, at3 := entries(t, n1, "one"), entries(t, n3, "one"); len(at1) == 0 || fmt.Sprint(at1) != fmt.Sprint(at3) {
		t.Errorf("n1 has %d entries, n3 %d", len(at1), len(at3))
	}
	if got := nodes(t, n2); fmt.Sprint(got) != "map[n1:up n2:up n3:up]" {
		t.Errorf("the nodes: %v", got)
	}
	if status := n2.Podctl("status"); !strings.Contains(status, "n2, lease renewed") {
		t.Errorf("podctl status at n2:\n%s", status)
	}
	n1.Stop()
	if got := nodes(t, n2)["n1"]; got != "stopped" {
		t.Errorf("n1 is %s", got)
	}
}

// question is the number of the one call that waits.
func question(t *testing.T, w *rig.World) string {
	t.Helper()
	var a struct {
		CallSeq json.Number `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(w.Podctl("approvals", "-o", "json")), &a); err != nil {
		t.Fatal(err)
	}
	return a.CallSeq.String()
}

// Approvals, answers, notes, changes and deletions reach the pod's node, and each node lists
// the waiting calls of all.
func TestNodesForward(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(1, nil)), c.node("n2", steps(1, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace, "--ask", "always")
	n2.Podctl("submit", "-p", "one", "go")
	rig.Await(t, "the question at n2", func() bool { return strings.Contains(n2.Podctl("approvals"), "echo 0") })
	n2.Podctl("approve", "-p", "one", question(t, n2))
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n2, "one", "turn_ended") == 1 })
	wantLines(t, n1, 1)
	n2.Podctl("send", "--no-wake", "one", "a note from n2")
	n2.Podctl("update", "one", "--ask", "never")
	n2.Podctl("rename", "one", "two")
	n2.Podctl("fork", "two", "three")
	if shown := n1.Podctl("show", "two"); !strings.Contains(shown, "never") {
		t.Errorf("podctl show two:\n%s", shown)
	}
	if list := n1.Podctl("list"); strings.Count(list, "n1:") != 2 {
		t.Errorf("podctl list:\n%s", list)
	}
	n2.Podctl("context", "two")
	n2.Podctl("stats", "two")
	n2.Podctl("delete", "two")
	n2.Podctl("restore", "two")
	if list := n1.Podctl("list"); strings.Count(list, "n1:") != 2 {
		t.Errorf("podctl list after restore:\n%s", list)
	}
	n1.Stop()
	fails(t, n2, "node n1, which has pod two, is stopped: start podd there, or move the pod: podctl move two NODE", "cancel", "two")
}

// A podd without the right certificate, name or settings is refused with a reason.
func TestNodesAreRefused(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(1, nil)), c.node("n2", steps(1, nil))
	n1.Start()
	refused := func(w *rig.World, config, says string) {
		t.Helper()
		w.Configure(config)
		out, err := w.Command("podd").CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) {
			t.Errorf("podd: %v, want %q\n%s", err, says, out)
		}
	}
	refused(n2, c.config("n2", c.ca.Node("n3")), "it needs the DNS name n2")
	other := certs.New(t)
	foreign := other.Node("n2")
	foreign[2] = c.ca.Node("n2")[2]
	refused(n2, c.config("n2", foreign), "other nodes would refuse")
	c.addresses["n1"] = c.addresses["n2"]
	refused(n2, c.config("n1", c.ca.Node("n1")), "another node of the database is named n1")
	refused(n2, fmt.Sprintf("[store]\nurl = %q\n", c.server.URL()), "another podd uses the database")
	// A node with a certificate of another authority reaches no node, and no node reaches it.
	n2.Configure(c.config("n2", other.Node("n2")))
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	fails(t, n2, "node n1 at", "cancel", "one")
}

// psql runs a statement.
func (c *cluster) psql(statement string) {
	c.t.Helper()
	bin, err := exec.LookPath("psql")
	if err != nil {
		c.t.Fatal(err)
	}
	if out, err := exec.Command(bin, c.server.URL(), "-c", statement).CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
}

// cutter passes connections on to an address, and breaks one in so many pieces of data.
type cutter struct {
	listener net.Listener
	work     sync.WaitGroup
	cuts     atomic.Int64
}

func newCutter(t *testing.T, to string, oneIn int64) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: l}
	var pieces atomic.Int64
	pass := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if pieces.Add(1)%oneIn == 0 {
				c.cuts.Add(1)
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	c.work.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			c.work.Go(func() { pass(out, in) })
			c.work.Go(func() { pass(in, out) })
		}
	})
	t.Cleanup(func() { _ = l.Close() })
	return c
}

// Whatever connections between nodes break: a submit runs once, and whoever follows gets each
// entry once, in order.
func TestNodesCut(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(0, nil)), c.node("n2", steps(0, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	cut := newCutter(t, c.addresses["n1"], 23)
	c.psql(fmt.Sprintf("UPDATE nodes SET address = '%s' WHERE name = 'n1'", cut.listener.Addr()))
	follow := n2.Command("podctl", "tail", "one", "--after", "0", "-f", "-o", "json")
	var followed rig.Buffer
	follow.Stdout = &followed
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	const prompts = 25
	for i := range prompts {
		n2.Podctl("submit", "-p", "one", fmt.Sprintf("prompt %d", i))
	}
	submitted := func(kind string) (found int) {
		for _, e := range entries(t, n2, "one") {
			if e[kind] != nil {
				found++
			}
		}
		return found
	}
	rig.Await(t, "the end of the last turn", func() bool { return submitted("turn_ended") > 0 && !strings.Contains(n2.Podctl("list"), "running") })
	if n := submitted("submitted"); n != prompts {
		t.Errorf("%d submits are in the log, want %d", n, prompts)
	}
	last := fmt.Sprintf(`"seq":"%d"`, len(entries(t, n2, "one")))
	rig.Await(t, "the last entry at n2", func() bool { return strings.Contains(followed.String(), last) })
	_ = follow.Process.Kill()
	_ = follow.Wait()
	next := 1
	for line := range strings.Lines(followed.String()) {
		var m struct{ Entry map[string]any }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if m.Entry == nil {
			continue
		}
		if fmt.Sprint(m.Entry["seq"]) != fmt.Sprint(next) {
			t.Fatalf("after entry %d came %v", next-1, m.Entry["seq"])
		}
		next++
	}
	if cuts := cut.cuts.Load(); cuts < 5 {
		t.Errorf("only %d cuts: the test shows little", cuts)
	}
}
