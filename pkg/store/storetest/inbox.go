package storetest

import (
	"fmt"

	"podd/pkg/item"
	"podd/pkg/store"
)

// A request id is admitted once. A retry with the same content gets the first answer and
// writes nothing, whether the submit waits or was taken since; other content is refused.
// The ids of different pods are independent.
func requestIDsAreAdmittedOnce(f *fixture) {
	p, other := f.pod("p"), f.pod("p2")
	seq := p.submit("r", "hello")
	want := store.Request{ID: "r", Digest: digest("hello"), Seq: seq, Queued: true}
	retry := func() {
		f.Helper()
		out := p.batch(admission("r", "hello"))
		if out.Duplicate == nil || len(out.Records) != 0 {
			f.Fatalf("a retry gives %+v, want a duplicate and nothing written", out)
		}
		equal(f, "duplicate", *out.Duplicate, want)
		_, err := p.try(admission("r", "other"))
		f.refused(err, item.KindExists, store.ReasonRequestIDTaken)
		got, ok, err := f.s.Request(f.Context(), "p", "r")
		f.must(err)
		equal(f, "request", got, want)
		equal(f, "request is known", ok, true)
	}
	retry()
	equal(f, "inbox", p.inbox(), []item.Seq{seq})
	p.batch(store.Batch{Dequeue: []item.Seq{seq}})
	retry()
	f.reopen()
	retry()
	equal(f, "inbox", p.inbox(), nil)
	equal(f, "log", len(p.log()), 1)

	direct := admission("direct", "now")
	direct.Enqueue, direct.Admit.Queued = false, false
	p.batch(direct)
	got, _, err := f.s.Request(f.Context(), "p", "direct")
	f.must(err)
	equal(f, "a submit that does not wait", got.Queued, false)
	equal(f, "same id in another pod", other.submit("r", "something else"), 1)
	_, ok, err := f.s.Request(f.Context(), "p2", "direct")
	f.must(err)
	equal(f, "another pod's id is known", ok, false)
}

// The last RequestsKept ids are remembered, the oldest is forgotten first, and a pod does
// not make another one forget.
func oldRequestIDsAreForgotten(f *fixture) {
	p, other := f.pod("p"), f.pod("p2")
	other.submit("kept", "hello")
	const extra = 3
	for n := range store.RequestsKept + extra {
		b := admission(fmt.Sprintf("r%d", n), "hello")
		b.Enqueue = false
		p.batch(b)
	}
	known := func(pod, id string) bool {
		f.Helper()
		_, ok, err := f.s.Request(f.Context(), pod, id)
		f.must(err)
		return ok
	}
	for n := range 2 * extra {
		equal(f, fmt.Sprintf("r%d is known", n), known("p", fmt.Sprintf("r%d", n)), n >= extra)
	}
	equal(f, "the last is known", known("p", fmt.Sprintf("r%d", store.RequestsKept+extra-1)), true)
	equal(f, "the other pod's is known", known("p2", "kept"), true)
}

// Submits wait in the order of their sequences, any of them can be taken, and the pod's
// record counts them.
func inboxKeepsItsOrder(f *fixture) {
	p, other := f.pod("p"), f.pod("p2")
	other.submit("r", "of another pod")
	var waiting []item.Seq
	for n := range 5 {
		waiting = append(waiting, p.submit(fmt.Sprintf("r%d", n), "hello"))
		p.append(note(n))
	}
	equal(f, "inbox", p.inbox(), waiting)
	equal(f, "count", p.record().Queued, 5)
	p.batch(store.Batch{
		Dequeue: []item.Seq{waiting[3], waiting[0]},
		Entries: []item.Entry{{Time: at(1), Turn: 1, Kind: item.TurnStarted{RequestIDs: []string{"r3", "r0"}}}},
	})
	want := []item.Seq{waiting[1], waiting[2], waiting[4]}
	equal(f, "inbox", p.inbox(), want)
	_, err := p.try(store.Batch{Dequeue: []item.Seq{waiting[3]}})
	f.refused(err, item.KindNotFound, store.ReasonNotWaiting)
	f.reopen()
	equal(f, "inbox after reopening", p.inbox(), want)
	equal(f, "count after reopening", p.record().Queued, 3)
	equal(f, "the other's inbox", other.inbox(), []item.Seq{1})
}

// InboxLimit refuses the first submit above the limit, accounts for what the same batch
// removes, and does not affect a batch that enqueues nothing.
func inboxIsBounded(f *fixture) {
	p := f.pod("p")
	limited := func(id string) store.Batch {
		b := admission(id, "hello")
		b.InboxLimit = 2
		return b
	}
	p.batch(limited("a"))
	p.batch(limited("b"))
	_, err := p.try(limited("c"))
	f.refused(err, item.KindExhausted, store.ReasonInboxFull)
	out := p.batch(limited("b"))
	equal(f, "a retry while it is full is a duplicate", out.Duplicate != nil, true)
	p.batch(store.Batch{Entries: []item.Entry{note(1)}, InboxLimit: 2})
	swap := limited("d")
	swap.Dequeue = []item.Seq{1}
	p.batch(swap)
	equal(f, "inbox", p.inbox(), []item.Seq{2, 4})
	p.batch(admission("e", "no limit"))
	equal(f, "count", p.record().Queued, 3)
}
