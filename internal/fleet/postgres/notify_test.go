package postgres_test

import (
	crand "crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
)

// notices opens a store as a node, and returns what other nodes tell it.
func notices(t *testing.T, url, name string) (*postgres.Store, <-chan store.Notice) {
	t.Helper()
	s := open(t, postgres.Config{URL: url, Node: "id-" + name})
	c, told := node(name, nil), make(chan store.Notice, 1000)
	c.Noticed = func(n store.Notice) { told <- n }
	if err := s.Membership.Join(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return s, told
}

// awaitNotice awaits one that is wanted.
func awaitNotice(t *testing.T, told <-chan store.Notice, what string, want func(store.Notice) bool) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case n := <-told:
			if want(n) {
				return
			}
		case <-late:
			t.Fatalf("no notice of %s in a minute", what)
		}
	}
}

func anyPod(n store.Notice) bool { return n.Any }

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

// A node learns which logs grow at other nodes and the last alert, and nothing of what it did
// itself. Once it listens again, any pod may have changed.
func TestNotices(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	a, toldA := notices(t, url, "a")
	b, toldB := notices(t, url, "b")
	awaitNotice(t, toldA, "the start", anyPod)
	awaitNotice(t, toldB, "the start", anyPod)
	create(t, a, "p")
	create(t, b, "q")
	said := item.ItemAdded{Item: item.UserMessage{Text: "hello"}}
	grow(t, a, "p", said)
	awaitNotice(t, toldB, "p", func(n store.Notice) bool { return !n.Any && slices.Equal(n.Pods, []string{"p"}) && n.Alert == 0 })
	grow(t, b, "q", said)
	awaitNotice(t, toldA, "q", func(n store.Notice) bool {
		if slices.Contains(n.Pods, "p") {
			t.Error("a got a notice of its own change")
		}
		return slices.Equal(n.Pods, []string{"q"})
	})
	grow(t, a, "p", item.AlertRaised{Alert: item.Alert{Level: item.LevelWarn, Source: "test", Text: "one"}})
	awaitNotice(t, toldB, "an alert of p", func(n store.Notice) bool { return slices.Contains(n.Pods, "p") && n.Alert == 1 })
	if _, err := a.RaiseAlert(t.Context(), item.Alert{Level: item.LevelWarn, Source: "test", Text: "two", Time: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	awaitNotice(t, toldB, "an alert of a", func(n store.Notice) bool { return n.Alert == 2 })
	if err := b.EndListeners(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitNotice(t, toldB, "the second start", anyPod)
}

// A notice that would be too long for PostgreSQL names no pods.
func TestNoticeOfManyPods(t *testing.T) {
	few, all := []string{"p", "q"}, make([]string, 400)
	for i := range all {
		all[i] = fmt.Sprintf("01JDN6Q0R4F2Z8G3T5W7Y9%04d", i)
	}
	text := postgres.NoticeOf("me", 7, few)
	node, n := postgres.ReadNotice(text)
	if slices.Sort(n.Pods); node != "me" || n.Any || n.Alert != 7 || !slices.Equal(n.Pods, few) {
		t.Errorf("%q says %s, %+v", text, node, n)
	}
	text = postgres.NoticeOf("me", 7, all)
	if node, n := postgres.ReadNotice(text); node != "me" || !n.Any || n.Alert != 7 || strings.Contains(text, all[0]) {
		t.Errorf("%q says %s, %+v", text, node, n)
	}
}
