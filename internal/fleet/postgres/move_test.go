package postgres_test

import (
	crand "crypto/rand"
	"testing"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
)

// away ends the lease of a node, which does not renew it.
func away(t *testing.T, url, name string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), "UPDATE nodes SET start = 'another', lease_until = clock_timestamp() WHERE name = $1", name); err != nil {
		t.Fatal(err)
	}
}

// one is a batch with one entry.
func one(pod string, epoch store.Epoch) store.Batch {
	return store.Batch{Pod: pod, Epoch: epoch, Entries: []item.Entry{note("here")}}
}

// A node that lost its pods to another writes nothing to them, makes no sub-pods and forks of
// them, and forgets what it knew of their logs.
func TestTake(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	a, b := join(t, url, "a", nil), join(t, url, "b", nil)
	create(t, a, "p")
	ctx := t.Context()
	epoch, err := a.Claim(ctx, "p")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Append(ctx, one("p", epoch)); err != nil {
		t.Fatal(err)
	}
	p, err := b.Pod(ctx, "p")
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.Dir = "/moved"
	wantReason(t, "taking from a node that is up", b.Membership.Take(ctx, []item.Pod{p}, true), store.ReasonNodeUp)
	wantReason(t, "removing a node that is up", b.Membership.RemoveNode(ctx, "a", true), store.ReasonNodeUp)
	away(t, url, "a")
	wantReason(t, "taking without force", b.Membership.Take(ctx, []item.Pod{p}, false), "NODE_UNSURE")
	if err := b.Membership.Take(ctx, []item.Pod{p}, true); err != nil {
		t.Fatal(err)
	}
	_, err = a.Append(ctx, one("p", epoch))
	wantReason(t, "a late Append", err, store.ReasonStaleEpoch)
	wantReason(t, "a late sub-pod", a.CreatePod(ctx, item.Pod{ID: "sub", Name: "sub", Spec: item.PodSpec{Parent: "p"}}), store.ReasonNotOwner)
	wantReason(t, "a late fork", a.Fork(ctx, "p", 1, item.Pod{ID: "fork", Name: "fork"}), store.ReasonNotOwner)
	_, err = a.Claim(ctx, "p")
	wantReason(t, "a late Claim", err, store.ReasonNotOwner)
	if n := a.Writers(); n != 0 {
		t.Errorf("a knows the ends of %d logs", n)
	}
	if epoch, err = b.Claim(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	if out, err := b.Append(ctx, one("p", epoch)); err != nil || out.Records[0].Seq != 2 {
		t.Errorf("Append at b: %+v, %v", out, err)
	}
	if p, err := b.Pod(ctx, "p"); err != nil || p.Spec.Dir != "/moved" || p.Node != "b" {
		t.Errorf("the pod: %+v, %v", p, err)
	}
	wantReason(t, "taking it again", b.Membership.Take(ctx, []item.Pod{p}, true), "MOVED")
}

// A node whose own lease is over takes nothing, by force neither.
func TestTakeNeedsALease(t *testing.T) {
	t.Parallel()
	needServer(t)
	url := inSchema(t, crand.Text())
	a, b := join(t, url, "a", nil), join(t, url, "b", nil)
	create(t, a, "p")
	p, err := b.Pod(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	away(t, url, "a")
	away(t, url, "b")
	wantReason(t, "taking without a lease", b.Membership.Take(t.Context(), []item.Pod{p}, true), store.ReasonNodeAway)
}

// A node that was killed while it stopped may have left commands: it is away, not stopped.
func TestKilledWhileStoppingIsAway(t *testing.T) {
	t.Parallel()
	needServer(t)
	url := inSchema(t, crand.Text())
	told := make(chan store.Node, 10)
	s := join(t, url, "a", func(l postgres.Look) {
		for _, n := range l.Gone {
			told <- n
		}
	})
	add := `INSERT INTO nodes (id, start, boot, name, address, version, config, seen, lease_until, draining) VALUES ('c', '', '', 'c', '', '', '', now(), now(), true)`
	if _, err := connect(t, url).Exec(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if n := <-told; n.Name != "c" || n.State != store.NodeAway {
		t.Errorf("told of %+v", n)
	}
	if err := s.Membership.RemoveNode(t.Context(), "c", false); err != nil {
		t.Error(err)
	}
	wantReason(t, "removing it again", s.Membership.RemoveNode(t.Context(), "c", false), "NODE_NOT_FOUND")
}
