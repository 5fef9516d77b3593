//go:build integrations

package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// team is a cluster whose nodes share a directory.
type team struct {
	*cluster
	// dir is the shared directory.
	dir   string
	nodes map[string]*rig.World
}

// newTeam starts the nodes n1, n2 and n3, whose models answer by h.
func newTeam(t testing.TB, h scripted.Handler) *team {
	t.Helper()
	return startTeam(t, h, func(_ *team, _, config string) string { return config })
}

// startTeam is newTeam with the configuration that change makes of each node's.
func startTeam(t testing.TB, h scripted.Handler, change func(tm *team, node, config string) string) *team {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tm := &team{cluster: newCluster(t), dir: dir, nodes: map[string]*rig.World{}}
	for _, name := range []string{"n1", "n2", "n3"} {
		w := tm.node(name, h)
		w.Configure(change(tm, name, tm.config(name, tm.ca.Node(name))+fmt.Sprintf("shared = [%q]\n", dir)))
		w.Start()
		tm.nodes[name] = w
	}
	// A command of a killed podd must not outlive the test.
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600) })
	return tm
}

// pod creates a pod of n1 in the shared directory, in which it has a directory of its own.
func (tm *team) pod(name string, args ...string) (dir string) {
	tm.t.Helper()
	dir = filepath.Join(tm.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		tm.t.Fatal(err)
	}
	tm.nodes["n1"].Podctl(append([]string{"create", name, "--dir", dir}, args...)...)
	return dir
}

// owner is the node that has a pod, as the list at n3 says.
func (tm *team) owner(pod string) string {
	tm.t.Helper()
	for line := range strings.Lines(tm.nodes["n3"].Podctl("list")) {
		if fields := strings.Fields(line); fields[0] == pod {
			for _, name := range []string{"n1", "n2", "n3"} {
				if strings.Contains(line, name+":") {
					return name
				}
			}
		}
	}
	return ""
}

// taken awaits that another node than n1 has a pod.
func (tm *team) taken(pod string) string {
	tm.t.Helper()
	var name string
	rig.Await(tm.t, "another node for pod "+pod, func() bool { name = tm.owner(pod); return name == "n2" || name == "n3" })
	return name
}

// wantText checks the content of a file.
func wantText(t *testing.T, file, want string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || string(b) != want {
		t.Errorf("%s has %q, %v, want %q", file, b, err, want)
	}
}

// once is a model for each kind of work, by the prompt: "steps" runs commands, of which the middle
// one waits for gate; "long" runs one that does not end; "family" spawns a sub-pod, which works as
// "steps"; anything else is done at once.
func once(gate <-chan struct{}, stop string) scripted.Handler {
	works := steps(4, gate)
	return func(ctx context.Context, r scripted.Request) scripted.Reply {
		switch prompt := r.LastUser(); {
		case strings.Contains(prompt, "steps"):
			return works(ctx, r)
		case strings.Contains(prompt, "long") && r.Steps() == 0:
			return scripted.Say(scripted.Call{ID: "long", Name: "shell", Arguments: fmt.Sprintf(`{"command":"echo 0 >> lines; until [ -e %s ]; do sleep 0.05; done"}`, stop)})
		case strings.Contains(prompt, "family") && r.Steps() == 0:
			return scripted.Say(scripted.Call{ID: "spawn", Name: "spawn_pod", Arguments: `{"task":"steps"}`})
		case strings.Contains(prompt, "asks") && r.Steps() == 0:
			return scripted.Say(scripted.Call{ID: "ask", Name: "shell", Arguments: `{"command":"echo 0 >> lines"}`})
		}
		return scripted.Say(scripted.Text("done"))
	}
}

// A node is killed in the middle of all that a pod can do. One of the others takes over the pods
// in the shared directory and goes on with each: a command that ran is not started again, what
// asks goes on asking, and what waits runs. A pod elsewhere waits for its node.
func TestNodesTakeOver(t *testing.T) {
	gate := make(chan struct{})
	stop := filepath.Join(t.TempDir(), "stop")
	t.Cleanup(func() { _ = os.WriteFile(stop, nil, 0o600) })
	tm := newTeam(t, once(gate, stop))
	n1, n2, n3 := tm.nodes["n1"], tm.nodes["n2"], tm.nodes["n3"]
	turn, long, asks := tm.pod("turn"), tm.pod("long"), tm.pod("asks", "--ask", "always")
	family := tm.pod("family", "--sub-pods", "1")
	tm.pod("idle")
	n1.Podctl("create", "stays", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "turn", "steps")
	n1.Podctl("submit", "-p", "turn", "second")
	n1.Podctl("submit", "-p", "turn", "third")
	n1.Podctl("submit", "-p", "long", "long")
	n1.Podctl("submit", "-p", "asks", "asks")
	n1.Podctl("submit", "-p", "family", "family")
	for _, file := range []string{filepath.Join(turn, "lines"), filepath.Join(family, "lines")} {
		rig.Await(t, "two commands", func() bool { b, _ := os.ReadFile(file); return string(b) == "0\n1\n" })
	}
	rig.Await(t, "the long command", func() bool { _, err := os.Stat(filepath.Join(long, "lines")); return err == nil })
	rig.Await(t, "the question", func() bool { return strings.Contains(n1.Podctl("approvals"), "echo 0") })
	if shown := n3.Podctl("show", "turn"); !strings.Contains(shown, "n1; movable") {
		t.Errorf("podctl show turn:\n%s", shown)
	}
	if shown := n3.Podctl("show", "stays"); strings.Contains(shown, "movable") {
		t.Errorf("podctl show stays:\n%s", shown)
	}
	f := follow(t, n3, "turn")
	n1.Kill()
	for _, pod := range []string{"turn", "long", "asks", "family", "idle"} {
		tm.taken(pod)
	}
	close(gate)
	for _, pod := range []string{"long", "family"} {
		rig.Await(t, "the end of the turn of "+pod, func() bool { return kinds(t, n2, pod, "turn_ended") == 1 })
	}
	rig.Await(t, "the end of the queued turns", func() bool { return kinds(t, n3, "turn", "turn_ended") == 3 })
	n2.Podctl("approve", "-p", "asks", question(t, n2))
	rig.Await(t, "the end of the turn that asked", func() bool { return kinds(t, n3, "asks", "turn_ended") == 1 })
	n3.Podctl("submit", "-p", "idle", "go")
	wantText(t, filepath.Join(turn, "lines"), "0\n1\n2\n3\n")
	wantText(t, filepath.Join(family, "lines"), "0\n1\n2\n3\n")
	wantText(t, filepath.Join(long, "lines"), "0\n")
	wantText(t, filepath.Join(asks, "lines"), "0\n")
	if log := n3.Podctl("tail", "long", "--after", "0", "-o", "json"); !strings.Contains(log, "may have taken effect") {
		t.Errorf("the log does not say what is known of the long command:\n%s", log)
	}
	f.wantAll(t, len(entries(t, n3, "turn")))
	rig.Await(t, "alerts", func() bool {
		alerts := n3.Podctl("alerts")
		return strings.Contains(alerts, "node n1 is away: node n") && strings.Contains(alerts, "1 pod goes on when podd runs there again")
	})
	fails(t, n2, "node n1, which has pod stays, has not answered for", "cancel", "stays")
	if list := n2.Podctl("nodes"); !strings.Contains(list, "its 1 pod can be read") {
		t.Errorf("podctl nodes at n2:\n%s", list)
	}
	// The node that comes back has only the pod that stayed.
	last := len(entries(t, n2, "turn"))
	n1.Start()
	n1.Podctl("submit", "-p", "stays", "go")
	rig.Await(t, "a turn at n1", func() bool { return kinds(t, n2, "stays", "turn_ended") == 1 })
	if name := tm.owner("turn"); name == "n1" {
		t.Error("n1 has pod turn again")
	}
	if n := len(entries(t, n2, "turn")); n != last {
		t.Errorf("the log of turn has %d entries, %d before n1 was back", n, last)
	}
}

// A node that sleeps for longer than its lease writes nothing to the pods that were taken over, and
// ends.
func TestNodesTakeOverFromSleeper(t *testing.T) {
	gate := make(chan struct{})
	tm := newTeam(t, once(gate, "/"))
	n1, n3 := tm.nodes["n1"], tm.nodes["n3"]
	turn := tm.pod("turn")
	n1.Podctl("submit", "-p", "turn", "steps")
	rig.Await(t, "two commands", func() bool { b, _ := os.ReadFile(filepath.Join(turn, "lines")); return string(b) == "0\n1\n" })
	n1.Signal(syscall.SIGSTOP)
	tm.taken("turn")
	close(gate)
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "turn", "turn_ended") == 1 })
	last := len(entries(t, n3, "turn"))
	n1.Signal(syscall.SIGCONT)
	ends(t, n1)
	if n := len(entries(t, n3, "turn")); n != last {
		t.Errorf("the log has %d entries, %d before n1 woke", n, last)
	}
	wantText(t, filepath.Join(turn, "lines"), "0\n1\n2\n3\n")
	n1.Start()
	n1.Podctl("submit", "-p", "turn", "again")
	rig.Await(t, "the second turn", func() bool { return kinds(t, n3, "turn", "turn_ended") == 2 })
}

// A node that is stopped gives its pods to the others: a model request is cut, whoever follows or
// calls sees no error. The last node keeps its pods, and has them again when it starts.
func TestNodesDrain(t *testing.T) {
	gate := make(chan struct{})
	tm := newTeam(t, once(gate, "/"))
	n1, n2, n3 := tm.nodes["n1"], tm.nodes["n2"], tm.nodes["n3"]
	turn := tm.pod("turn")
	tm.pod("idle")
	n1.Podctl("create", "stays", "--dir", n1.Workspace)
	n1.Podctl("submit", "-p", "turn", "steps")
	rig.Await(t, "two commands", func() bool { b, _ := os.ReadFile(filepath.Join(turn, "lines")); return string(b) == "0\n1\n" })
	f := follow(t, n3, "turn")
	n1.Stop()
	n2.Podctl("submit", "-p", "idle", "go")
	tm.taken("turn")
	close(gate)
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "turn", "turn_ended") == 1 })
	wantText(t, filepath.Join(turn, "lines"), "0\n1\n2\n3\n")
	f.wantAll(t, len(entries(t, n3, "turn")))
	if states := nodes(t, n3); states["n1"] != "stopped" {
		t.Errorf("n1 is %s", states["n1"])
	}
	if alerts := n3.Podctl("alerts"); strings.Contains(alerts, "node n1") {
		t.Errorf("alerts about a node that was stopped in order:\n%s", alerts)
	}
	fails(t, n3, "node n1, which has pod stays, is stopped: start podd there, or move the pod", "cancel", "stays")
	if name := tm.owner("stays"); name != "n1" {
		t.Errorf("pod stays is at %q", name)
	}
	n2.Stop()
	rig.Await(t, "n3 as the last node", func() bool { return tm.owner("turn") == "n3" && tm.owner("idle") == "n3" })
	n3.Stop()
	n3.Start()
	for _, pod := range []string{"turn", "idle"} {
		if name := tm.owner(pod); name != "n3" {
			t.Errorf("pod %s is at %q", pod, name)
		}
	}
	n3.Podctl("submit", "-p", "turn", "again")
	rig.Await(t, "the second turn", func() bool { return kinds(t, n3, "turn", "turn_ended") == 2 })
}

// A directory in the place of the shared one is refused, and so is a sandbox that cannot end all
// that a command started.
func TestNodesRefuseShares(t *testing.T) {
	tm := newTeam(t, once(nil, "/"))
	n1 := tm.nodes["n1"]
	tm.pod("one")
	n1.Kill()
	refused := func(config, says string) {
		t.Helper()
		n1.Configure(config)
		if out, err := n1.Command("podd").CombinedOutput(); err == nil || !strings.Contains(string(out), says) {
			t.Errorf("podd: %v, want %q\n%s", err, says, out)
		}
	}
	config := tm.config("n1", tm.ca.Node("n1"))
	id, err := os.ReadFile(filepath.Join(tm.dir, ".podd-share"))
	if err != nil {
		t.Fatal(err)
	}
	refused(config+`shared = ["/nowhere"]`, "/nowhere can't be opened (no such file or directory): mount it")
	refused(config+fmt.Sprintf("shared = [%q]\n[sandbox]\nmode = \"off\"\n", tm.dir), "node.shared needs the sandbox bwrap")
	if err := os.Remove(filepath.Join(tm.dir, ".podd-share")); err != nil {
		t.Fatal(err)
	}
	refused(config+fmt.Sprintf("shared = [%q]\n", tm.dir), "is not the directory in which pods of this node work: mount that one, or write "+strings.TrimSpace(string(id)))
}

// TestTakeOverTime measures PODD_TAKEOVERS kills of the node of a pod whose turn runs: from the kill
// until a third node shows the first entry of the new one.
func TestTakeOverTime(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("PODD_TAKEOVERS"))
	if kills == 0 {
		t.Skip("set PODD_TAKEOVERS to the number of kills")
	}
	var mu sync.Mutex
	count := 0
	tm := newTeam(t, func(context.Context, scripted.Request) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		count++
		return scripted.Say(scripted.Call{ID: fmt.Sprint("c", count), Name: "shell", Arguments: fmt.Sprintf(`{"command":"echo %d"}`, count)})
	})
	tm.pod("one")
	names := []string{"n1", "n2", "n3"}
	var took []time.Duration
	for range kills {
		for _, name := range names {
			rig.Await(t, name, func() bool { return nodes(t, tm.nodes[name])[name] == "up" })
		}
		owner := tm.owner("one")
		third := names[(slices.Index(names, owner)+1)%len(names)]
		// A turn ends after 200 steps.
		_ = tm.nodes[third].Command("podctl", "cancel", "one").Run()
		tm.nodes[third].Podctl("submit", "-p", "one", "go")
		rig.Await(t, "a turn", func() bool { return strings.Contains(tm.nodes[third].Podctl("list"), "running") })
		before := kinds(t, tm.nodes[third], "one", "recovered")
		f := follow(t, tm.nodes[third], "one")
		began := time.Now()
		tm.nodes[owner].Kill()
		rig.Await(t, "an entry of the next node", func() bool { return strings.Count(f.out.String(), `"recovered":`) > before })
		took = append(took, time.Since(began))
		_ = f.cmd.Process.Kill()
		tm.nodes[owner].Start()
	}
	slices.Sort(took)
	t.Logf("%d kills of a node with a running turn: p50 %v, p99 %v, most %v", len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
