package pod_test

import (
	"context"
	"testing"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// Whoever follows a pod of another node gets what that writes once a notice says so.
func TestFollowElsewhere(t *testing.T) {
	h, f := newFaultyHouse(t, steps())
	p, err := h.host.Get(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := f.Store.Claim(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	f.claim(func(string) error { return store.Elsewhere("p", store.Node{Name: "n2", State: store.NodeUp}) })
	write := func(text string) {
		t.Helper()
		_, err := f.Store.Append(t.Context(), store.Batch{Pod: p.ID, Epoch: epoch, Entries: []item.Entry{
			{Time: h.now(), Kind: item.Note{Text: text}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	texts, caughtUp := make(chan string), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: "p", Follow: true}) {
			switch {
			case e.CaughtUp != nil:
				close(caughtUp)
			case e.Record != nil:
				n, _ := h.decode(*e.Record).Kind.(item.Note)
				texts <- n.Text
			}
		}
	}()
	defer func() { cancel(); <-done }()
	want := func(text string) {
		t.Helper()
		if got := <-texts; got != text {
			t.Fatalf("the follower got %q, want %q", got, text)
		}
	}
	want("one")
	<-caughtUp
	for _, text := range []string{"two", "three"} {
		write(text)
		h.host.Noticed(0)
		want(text)
	}
}
