package storetest

import (
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
)

// fork makes a pod from the entries of another and claims it.
func (p *owned) fork(id string, at item.Seq) *owned {
	p.f.Helper()
	p.f.must(p.tryFork(id, at))
	return p.f.claim(id)
}

func (p *owned) tryFork(id string, seq item.Seq) error {
	return p.f.s.Fork(p.f.Context(), p.id, seq, item.Pod{ID: id, Name: "name-of-" + id, CreatedAt: at(0)})
}

// notes appends n notes, the first of which has the number first.
func (p *owned) notes(first, n int) (entries []item.Entry) {
	p.f.Helper()
	for i := range n {
		entries = append(entries, note(first+i))
	}
	return decode(p.f, p.append(entries...).Records)
}

// A fork has the parent's entries up to the fork, and continues with its own; neither pod
// sees what the other writes later. Reading crosses the border with any size of page, and
// also in a fork of a fork, wherever it is cut.
func forksShareTheLog(f *fixture) {
	p := f.pod("p")
	shared := p.notes(1, 10)
	q := p.fork("q", 6)
	equal(f, "ends of the fork", ends(q.record()), [2]item.Seq{1, 6})
	equal(f, "the fork", q.log(), shared[:6])
	more := q.notes(101, 3)
	equal(f, "the fork's first sequence", more[0].Seq, 7)
	p.notes(11, 3)
	want := map[string][]item.Entry{"q": concat(shared[:6], more)}
	for at := range item.Seq(9) {
		id := fmt.Sprintf("fork-%d", at+1)
		r := q.fork(id, at+1)
		want[id] = concat(want["q"][:at+1], r.notes(1000+int(at), 2))
	}
	q.notes(201, 2)
	want["q"] = q.log()
	equal(f, "entries of the fork", len(want["q"]), 11)
	for range 2 {
		for id, entries := range want {
			o := &owned{f: f, id: id}
			equal(f, "log of "+id, o.log(), entries)
			equal(f, "ends of "+id, ends(o.record()), [2]item.Seq{1, item.Seq(len(entries))})
			for limit := 1; limit < 5; limit++ {
				for after := range len(entries) + 1 {
					page, err := f.s.Read(f.Context(), id, item.Seq(after), limit)
					f.must(err)
					equal(f, "a page of "+id, decode(f, page), concat(entries[after:min(after+limit, len(entries))]))
				}
			}
		}
		equal(f, "entries of the parent", len(p.log()), 13)
		f.reopen()
	}
}

func ends(p item.Pod) [2]item.Seq { return [2]item.Seq{p.First, p.Last} }

// concat is a new slice, never nil.
func concat(parts ...[]item.Entry) []item.Entry {
	out := []item.Entry{}
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}

// A page that is full ends in the same way on either side of the border.
func forksAreReadInPages(f *fixture) {
	p := f.pod("p")
	for i := range 4 {
		p.append(item.Entry{Time: at(i), Kind: item.Note{Text: strings.Repeat("x", store.ReadBytes/3)}})
	}
	q := p.fork("q", 4)
	for i := range 4 {
		q.append(item.Entry{Time: at(i), Kind: item.Note{Text: strings.Repeat("y", store.ReadBytes/3)}})
	}
	var pages [][]item.Seq
	for after := item.Seq(0); after < 8; {
		page, err := f.s.Read(f.Context(), "q", after, 0)
		f.must(err)
		if len(page) == 0 {
			f.Fatalf("no record after %d", after)
		}
		pages = append(pages, seqs(page))
		after = page[len(page)-1].Seq
	}
	equal(f, "pages", pages, [][]item.Seq{{1, 2}, {3, 4}, {5, 6}, {7, 8}})
}

// A fork shares only the log: its inbox is empty, it has no request ids and no alerts, it
// is not claimed, and its status is its own.
func forksShareNothingElse(f *fixture) {
	p := f.pod("p")
	p.submit("r", "hello")
	p.append(raised("of p"))
	running := item.PodStatus{State: item.StateRunning, Turn: 3, LastActivity: at(5)}
	p.batch(store.Batch{Status: &running})
	idle := item.PodStatus{State: item.StateIdle, LastActivity: at(9)}
	f.must(f.s.Fork(f.Context(), "p", 2, item.Pod{ID: "q", Name: "nq", Spec: fullSpec("q"), CreatedAt: at(8), Status: idle}))
	got, err := f.s.Pod(f.Context(), "nq")
	f.must(err)
	equal(f, "the fork", got, item.Pod{ID: "q", Name: "nq", Spec: fullSpec("q"), CreatedAt: at(8), Status: idle, First: 1, Last: 2})
	_, err = f.s.Append(f.Context(), store.Batch{Pod: "q", Epoch: p.epoch, Entries: []item.Entry{note(1)}})
	f.refused(err, item.KindPrecondition, store.ReasonStaleEpoch)
	q := f.claim("q")
	equal(f, "its epoch", q.epoch, 1)
	equal(f, "its inbox", q.inbox(), nil)
	equal(f, "its alerts", f.alerts(store.AlertQuery{Pod: "q"}), nil)
	equal(f, "the parent's request id", q.submit("r", "another"), 3)
	equal(f, "its inbox", q.inbox(), []item.Seq{3})
	equal(f, "the parent's inbox", p.inbox(), []item.Seq{1})
	_, err = q.try(store.Batch{Dequeue: []item.Seq{1}})
	f.refused(err, item.KindNotFound, store.ReasonNotWaiting)
	p.batch(store.Batch{Dequeue: []item.Seq{1}})
}

// Deleting a pod takes nothing from its forks, nor from their forks, in any order. Its
// name is free at once, its id when no fork needs its entries.
func forksOutliveTheirParent(f *fixture) {
	p := f.pod("p")
	p.notes(1, 5)
	q := p.fork("q", 4)
	q.notes(11, 3)
	r := q.fork("r", 6)
	r.notes(21, 2)
	want := r.log()
	equal(f, "entries", len(want), 8)
	for _, id := range []string{"p", "q"} {
		f.must(f.s.DeletePod(f.Context(), id))
		f.reopen()
		equal(f, "log without "+id, r.log(), want)
		err := f.s.CreatePod(f.Context(), item.Pod{ID: id, Name: "other-" + id})
		f.refused(err, item.KindExists, store.ReasonPodExists)
		f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "new-" + id, Name: "name-of-" + id}))
	}
	_, err := f.s.Read(f.Context(), "p", 0, 1)
	f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	r.notes(31, 1)
	f.must(f.s.DeletePod(f.Context(), "r"))
	for _, id := range []string{"p", "q", "r"} {
		f.must(f.s.CreatePod(f.Context(), item.Pod{ID: id, Name: "other-" + id}))
		equal(f, "log of a new pod with an old id", f.claim(id).log(), nil)
	}
}

// A fork is refused, and leaves no trace, at an entry that the parent does not have, of a
// pod that does not exist, and under a name or id in use.
func badForksAreRefused(f *fixture) {
	p := f.pod("p")
	f.refused(p.tryFork("q", 1), item.KindOutOfRange, store.ReasonBeyondEnd)
	p.notes(1, 3)
	for _, at := range []item.Seq{0, -1} {
		f.refused(p.tryFork("q", at), item.KindInvalid, store.ReasonBadRange)
	}
	for _, at := range []item.Seq{4, 5, 1 << 62} {
		f.refused(p.tryFork("q", at), item.KindOutOfRange, store.ReasonBeyondEnd)
	}
	f.refused((&owned{f: f, id: "x"}).tryFork("q", 1), item.KindNotFound, store.ReasonPodNotFound)
	f.refused((&owned{f: f, id: "name-of-p"}).tryFork("q", 1), item.KindNotFound, store.ReasonPodNotFound)
	f.refused(p.tryFork("p", 1), item.KindExists, store.ReasonPodExists)
	err := f.s.Fork(f.Context(), "p", 1, item.Pod{ID: "q", Name: "name-of-p"})
	f.refused(err, item.KindExists, store.ReasonPodExists)
	err = f.s.Fork(f.Context(), "p", 1, item.Pod{ID: "q"})
	f.refused(err, item.KindInvalid, store.ReasonBadName)
	pods, err := f.s.Pods(f.Context())
	f.must(err)
	equal(f, "pods", len(pods), 1)
	equal(f, "the next entry", p.fork("q", 3).notes(4, 1)[0].Seq, 4)
}
