package postgres_test

import (
	crand "crypto/rand"
	"testing"
	"time"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
)

// notices opens a store as a node, and returns the last alerts of what other nodes tell it.
func notices(t *testing.T, url, name string) (*postgres.Store, <-chan item.Seq) {
	t.Helper()
	s := open(t, postgres.Config{URL: url, Node: "id-" + name})
	c, told := node(name, nil), make(chan item.Seq, 1000)
	c.Noticed = func(alert item.Seq) { told <- alert }
	if err := s.Membership.Join(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return s, told
}

// awaitNotice awaits a notice with at least this alert.
func awaitNotice(t *testing.T, told <-chan item.Seq, what string, alert item.Seq) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case n := <-told:
			if n >= alert {
				return
			}
		case <-late:
			t.Fatalf("no notice of %s in a minute", what)
		}
	}
}

// grow appends an entry to the log of a pod, which may be an alert.
func grow(t *testing.T, s store.Store, pod string, kind item.Kind) {
	t.Helper()
	epoch, err := s.Claim(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), store.Batch{Pod: pod, Epoch: epoch, Entries: []item.Entry{{Time: time.Unix(1, 0), Kind: kind}}}); err != nil {
		t.Fatal(err)
	}
}

// A node learns that something changed at other nodes, and the last alert.
func TestNotices(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	a, toldA := notices(t, url, "a")
	b, toldB := notices(t, url, "b")
	awaitNotice(t, toldA, "the start", 0)
	awaitNotice(t, toldB, "the start", 0)
	create(t, a, "p")
	grow(t, a, "p", item.ItemAdded{Item: item.UserMessage{Text: "hello"}})
	awaitNotice(t, toldB, "p", 0)
	grow(t, a, "p", item.AlertRaised{Alert: item.Alert{Level: item.LevelWarn, Source: "test", Text: "one"}})
	awaitNotice(t, toldB, "an alert of p", 1)
	if _, err := a.RaiseAlert(t.Context(), item.Alert{Level: item.LevelWarn, Source: "test", Text: "two", Time: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	awaitNotice(t, toldB, "an alert of a", 2)
	if err := b.EndListeners(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitNotice(t, toldB, "the second start", 2)
}

// A notice of a node of an earlier version names pods too.
func TestReadNotice(t *testing.T) {
	for text, want := range map[string]item.Seq{"me 7": 7, "me 7 p q": 7, "me 0 *": 0, "me": 0} {
		if node, alert := postgres.ReadNotice(text); node != "me" || alert != want {
			t.Errorf("%q says %s, %d", text, node, alert)
		}
	}
}
