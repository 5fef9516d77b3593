package postgres_test

import (
	crand "crypto/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
)

// join opens a store as a node.
func join(t *testing.T, url, name string, looked func(postgres.Look)) *postgres.Store {
	t.Helper()
	s := open(t, postgres.Config{URL: url, Node: "id-" + name})
	if err := s.Membership.Join(t.Context(), node(name, looked)); err != nil {
		t.Fatal(err)
	}
	return s
}

func node(name string, looked func(postgres.Look)) postgres.NodeConfig {
	return postgres.NodeConfig{Name: name, Address: name + ":1", Version: "1", Looked: looked}
}

func create(t *testing.T, s store.Store, pod string) {
	t.Helper()
	if err := s.CreatePod(t.Context(), item.Pod{ID: pod, Name: "the-" + pod}); err != nil {
		t.Fatal(err)
	}
}

func wantReason(t *testing.T, what string, err error, reason string) {
	t.Helper()
	if item.ReasonOf(err) != reason {
		t.Errorf("%s: %v, want %s", what, err, reason)
	}
}

// A pod that becomes this node's while it claims it is claimed: it exists all the time.
func TestClaimMeetsATakeOver(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	a, b := join(t, url, "a", nil), join(t, url, "b", nil)
	create(t, b, "p")
	conn, other := connect(t, url), connect(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE heads SET place = 'id-a' WHERE pod = 'p'"); err != nil {
		t.Fatal(err)
	}
	claimed := make(chan error)
	go func() {
		_, err := a.Claim(t.Context(), "p")
		claimed <- err
	}()
	for waits := false; !waits; {
		if err := other.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))", int32(conn.PgConn().PID())).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-claimed; err != nil {
		t.Error(err)
	}
}

// A node changes its own pods and reads all of them.
func TestNodesOwnTheirPods(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	a, b := join(t, url, "a", nil), join(t, url, "b", nil)
	create(t, a, "p")
	ctx := t.Context()
	if _, err := a.Claim(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	claim := func() error { _, err := b.Claim(ctx, "p"); return err }
	for what, err := range map[string]error{
		"Claim": claim(), "UpdateSpec": b.UpdateSpec(ctx, "p", item.PodSpec{}), "RenamePod": b.RenamePod(ctx, "p", "q"),
		"DeletePod": b.DeletePod(ctx, "p"), "TrashPods": b.TrashPods(ctx, []string{"p"}, time.Now()),
	} {
		wantReason(t, what, err, store.ReasonNotOwner)
		if e, ok := err.(*item.Error); !ok || e.Meta["node"] != "a" {
			t.Errorf("%s: the error does not name the node: %v", what, err)
		}
	}
	if n, err := b.Membership.Locate(ctx, "the-p"); err != nil || n.Here || n.Name != "a" || n.Address != "a:1" || n.State != store.NodeUp {
		t.Errorf("Locate at b: %+v, %v", n, err)
	}
	if at, err := a.Membership.Locate(ctx, "p"); err != nil || !at.Here {
		t.Errorf("Locate at a: %+v, %v", at, err)
	}
	if p, err := b.Pod(ctx, "p"); err != nil || p.Node != "a" {
		t.Errorf("the pod is at %q, %v", p.Node, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "a claim while a is stopped", claim(), store.ReasonNodeAway)
	nodes, err := b.Membership.Nodes(ctx)
	if err != nil || len(nodes) != 2 || nodes[0].State != store.NodeStopped || nodes[0].Pods != 1 || !nodes[1].Self {
		t.Errorf("Nodes: %+v, %v", nodes, err)
	}
	if err := a.TrashPods(ctx, nil, time.Now()); err != nil {
		t.Error(err)
	}
}

// Names are unique, a podd alone and nodes exclude each other, and the latest run of a node
// ends the earlier one.
func TestJoin(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	ctx := t.Context()
	first := join(t, url, "a", nil)
	other := open(t, postgres.Config{URL: url, Node: "other"})
	wantReason(t, "a second node a", other.Membership.Join(ctx, node("a", nil)), "NODE_TAKEN")
	wantReason(t, "a podd alone", open(t, postgres.Config{URL: url, Node: "alone"}).Membership.Hold(ctx, 0), store.ReasonHeld)
	again := join(t, url, "a", nil)
	<-first.Failed()
	if err := first.Membership.LostTo(); err == nil || !strings.Contains(err.Error(), "node a") {
		t.Errorf("the first run ended because of %v", err)
	}
	_ = first.Close()
	conn := connect(t, url)
	if _, err := conn.Exec(ctx, "UPDATE nodes SET boot = 'another'"); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "a copy of the state directory", open(t, postgres.Config{URL: url, Node: "id-a"}).Membership.Join(ctx, node("a", nil)), "NODE_TAKEN")
	_ = again.Close()
	if _, err := conn.Exec(ctx, "UPDATE nodes SET lease_until = clock_timestamp() + interval '2 s', draining = false"); err != nil {
		t.Fatal(err)
	}
	last := join(t, url, "a", nil)
	create(t, last, "p")
	_ = last.Close()
	alone := open(t, postgres.Config{URL: url, Node: "alone"})
	// The server may see later that the connections of the nodes are closed.
	if err := alone.Membership.Hold(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	_, err := alone.Claim(ctx, "p")
	wantReason(t, "a pod of a node", err, store.ReasonNodeAway)
	wantReason(t, "a node", open(t, postgres.Config{URL: url, Node: "id-b"}).Membership.Join(ctx, node("b", nil)), store.ReasonHeld)
}

// A podd that has the database alone takes the pods of another that had it alone.
func TestAloneTakesPods(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	for _, id := range []string{"one", "two"} {
		s := open(t, postgres.Config{URL: url, Node: id})
		if err := s.Membership.Hold(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if id == "one" {
			create(t, s, "p")
		}
		if _, err := s.Claim(t.Context(), "p"); err != nil {
			t.Error(err)
		}
		_ = s.Close()
	}
}

// A node that no longer renews its lease is away; exactly one other node tells, and only once.
func TestNodeGoesAway(t *testing.T) {
	t.Parallel()
	needServer(t)
	url := inSchema(t, crand.Text())
	gone := make(chan string, 10)
	looked := func(l postgres.Look) {
		for _, n := range l.Gone {
			gone <- n.Name
		}
	}
	conn := connect(t, url)
	s := join(t, url, "a", looked)
	join(t, url, "b", looked)
	add := `INSERT INTO nodes (id, start, boot, name, address, version, config, seen, lease_until) VALUES ('c', '', '', 'c', '', '', '', now(), now())`
	if _, err := conn.Exec(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if name := <-gone; name != "c" {
		t.Errorf("node %s is gone", name)
	}
	nodes, err := s.Membership.Nodes(t.Context())
	if err != nil || len(nodes) != 3 || nodes[2].State != store.NodeAway || nodes[0].State != store.NodeUp {
		t.Errorf("Nodes: %+v, %v", nodes, err)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE nodes SET beat = beat + 1, away = false WHERE id = 'c'"); err != nil {
		t.Fatal(err)
	}
	if name := <-gone; name != "c" {
		t.Errorf("node %s is gone again", name)
	}
	if len(gone) > 0 {
		t.Errorf("two nodes told about it")
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// An outage of the database makes no node away: its lease starts again when
// the database answers.
func TestNobodyIsAwayAfterAnOutage(t *testing.T) {
	t.Parallel()
	needServer(t)
	schema := strings.ToLower(crand.Text())
	url := inSchema(t, schema)
	p := proxy(t, server)
	conn := connect(t, url)
	looks := make(chan []store.Node, 100)
	join(t, p.URL()+"&search_path="+schema, "a", func(l postgres.Look) { looks <- l.Gone })
	add := `INSERT INTO nodes (id, start, boot, name, address, version, config, seen, lease_until) VALUES ('c', '', '', 'c', '', '', '', now(), now())`
	if _, err := conn.Exec(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	<-looks
	p.Cut(func(bool) bool { return true })
	// Longer than a lease.
	if _, err := conn.Exec(t.Context(), "SELECT pg_sleep(5)"); err != nil {
		t.Fatal(err)
	}
	for len(looks) > 0 {
		if gone := <-looks; len(gone) > 0 {
			t.Fatal("c was away before the outage")
		}
	}
	p.Cut(nil)
	if gone := <-looks; len(gone) > 0 {
		t.Errorf("after the outage %s was away at once", gone[0].Name)
	}
	for range 10 {
		if gone := <-looks; len(gone) > 0 {
			return
		}
	}
	t.Error("c is never away")
}

// A node that stops while it renews its lease has stopped, and is not away some seconds later.
func TestStopWhileRenewing(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	other := join(t, url, "b", nil)
	s := open(t, postgres.Config{URL: url, Node: "id-a"})
	begun := make(chan struct{})
	c := node("a", nil)
	c.Running = sync.OnceValue(func() int {
		close(begun)
		<-s.Closing()
		return 0
	})
	if err := s.Membership.Join(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := other.Membership.Nodes(t.Context())
	if err != nil || len(all) != 2 || all[0].State != store.NodeStopped {
		t.Errorf("the nodes are %+v, %v", all, err)
	}
}

// A node that others have fenced counts as away, also if the clock of the database went back since
// it renewed its lease.
func TestFencedNodeIsAway(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	a, b := join(t, url, "a", nil), join(t, url, "b", nil)
	create(t, a, "p")
	a.Freeze()
	if err := b.Fence(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if at, err := b.Membership.Locate(t.Context(), "p"); err != nil || at.State != store.NodeAway {
		t.Errorf("a is %s, %v", at.State, err)
	}
}
