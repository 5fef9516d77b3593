package fleet_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"podd/internal/fleet"
	"podd/internal/testing/certs"
	"podd/pkg/item"
	"podd/pkg/store"
)

func load(t *testing.T, ca *certs.Authority, name string) *fleet.Identity {
	t.Helper()
	files := ca.Node(name)
	id, err := fleet.LoadIdentity(name, files[0], files[1], files[2])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// serve serves health checks to the nodes a and b.
func serve(t *testing.T, id *fleet.Identity) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.Creds(id.Server(t.Context(), func(context.Context) ([]store.Node, error) { return []store.Node{{Name: "a"}, {Name: "b"}}, nil })))
	healthv1.RegisterHealthServer(g, health.NewServer())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = g.Serve(l)
	}()
	t.Cleanup(func() {
		g.Stop()
		<-ended
	})
	return l.Addr().String()
}

func ask(t *testing.T, id *fleet.Identity, n store.Node) error {
	t.Helper()
	peers := fleet.NewPeers(id)
	defer peers.Close()
	conn, err := peers.Ready(t.Context(), n)
	if err != nil {
		return err
	}
	_, err = healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	return err
}

// Only nodes of one authority, whose names the database has, talk to each other.
func TestWhoTalks(t *testing.T) {
	ca, other := certs.New(t), certs.New(t)
	address := serve(t, load(t, ca, "a"))
	for what, c := range map[string]struct {
		id *fleet.Identity
		to string
		ok bool
	}{
		"a node":                     {load(t, ca, "b"), "a", true},
		"a name that is no node's":   {load(t, ca, "c"), "a", false},
		"a node of another name":     {load(t, ca, "b"), "b", false},
		"a node with another's word": {load(t, other, "b"), "a", false},
	} {
		if err := ask(t, c.id, store.Node{Name: c.to, Address: address}); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	err := ask(t, load(t, ca, "b"), store.Node{Name: "a", Address: "127.0.0.1:1"})
	if item.ReasonOf(err) != store.ReasonNodeAway || !strings.Contains(err.Error(), "node a at 127.0.0.1:1") {
		t.Errorf("a node that is away: %v", err)
	}
}

// What other nodes would refuse is refused at the start.
func TestBadIdentity(t *testing.T) {
	ca := certs.New(t)
	a, b := ca.Node("a"), certs.New(t).Node("b")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, files := range map[string][3]string{
		"cannot use":                       {a[0], b[1], a[2]},
		"cannot read the authority":        {a[0], a[1], empty + "x"},
		"has no certificate":               {a[0], a[1], empty},
		"other nodes would refuse " + a[0]: {a[0], a[1], b[2]},
	} {
		_, err := fleet.LoadIdentity("a", files[0], files[1], files[2])
		if item.ReasonOf(err) != "NODE_TLS" || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
	if _, err := fleet.LoadIdentity("c", a[0], a[1], a[2]); err == nil || !strings.Contains(err.Error(), "it needs the DNS name c") {
		t.Errorf("another name: %v", err)
	}
}
