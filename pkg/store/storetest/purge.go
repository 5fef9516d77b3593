package storetest

import (
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// purgedMark is a mark with a time, whose log is complete from a sequence on.
func purgedMark(n int, from item.Seq) item.Entry {
	return item.Entry{Time: at(n), Turn: int64(n), Kind: item.Purged{
		At: at(n), Entries: int64(n), From: from, Reason: "too old",
		Setup:  &item.Setup{Model: "m"},
		Totals: item.Totals{Turns: int64(n), Tools: []item.ToolTotal{{Tool: "shell", Calls: 3}}},
	}}
}

// purge removes the entries of a pod up to a sequence and returns the stored mark.
func (p *owned) purge(upTo, from item.Seq) item.Entry {
	p.f.Helper()
	mark := purgedMark(int(upTo), from)
	p.f.must(p.f.s.Purge(p.f.Context(), store.Purge{Pod: p.id, UpTo: upTo, Last: p.record().Last, Mark: mark}))
	mark.Seq = upTo
	return mark
}

// gone checks that a log has no entry at or below a sequence, and names the first.
func (p *owned) gone(after item.Seq, first string) {
	p.f.Helper()
	_, err := p.f.s.Read(p.f.Context(), p.id, after, 1)
	p.f.refused(err, item.KindOutOfRange, store.ReasonPurged)
	if e, ok := errors.AsType[*item.Error](err); ok {
		equal(p.f, "first_seq", e.Meta["first_seq"], first)
	}
}

// A purged range is gone, and the error names the sequence at which the log now begins:
// the mark with its content. Later entries, inbox, request ids, alerts and the next
// sequence do not change.
func purgedRangesAreGone(f *fixture) {
	p := f.pod("p")
	taken := p.submit("r", "hello")
	entries := concat(p.log(), p.notes(2, 4), decode(f, p.append(raised("kept")).Records), p.notes(7, 3))
	waiting := p.submit("s", "waits")
	p.batch(store.Batch{Dequeue: []item.Seq{taken}})
	entries = concat(entries, p.log()[9:])
	before := p.record()
	for i, upTo := range []item.Seq{4, 6, 9} {
		mark := p.purge(upTo, 0)
		want := concat([]item.Entry{mark}, entries[upTo:])
		for range 2 {
			p.gone(0, []string{"4", "6", "9"}[i])
			p.gone(upTo-2, []string{"4", "6", "9"}[i])
			equal(f, "log", p.log(), want)
			page, err := f.s.Read(f.Context(), "p", upTo-1, 1)
			f.must(err)
			equal(f, "the mark alone", decode(f, page), want[:1])
			page, err = f.s.Read(f.Context(), "p", upTo, 1)
			f.must(err)
			equal(f, "after the mark", decode(f, page), want[1:2])
			f.reopen()
		}
		before.First = upTo
		equal(f, "record", p.record(), before)
	}
	equal(f, "inbox", p.inbox(), []item.Seq{waiting})
	equal(f, "alerts", f.alertSeqs(store.AlertQuery{Pod: "p"}), []item.Seq{1})
	out := p.batch(admission("r", "hello"))
	if out.Duplicate == nil || out.Duplicate.Seq != taken {
		f.Errorf("the request whose submit was purged is %+v, want a duplicate", out)
	}
	equal(f, "the next entry", p.notes(20, 1)[0].Seq, 11)
	p.batch(store.Batch{Dequeue: []item.Seq{waiting}})
	mark := p.purge(11, 0)
	equal(f, "a log without its last entry", p.log(), []item.Entry{mark})
	equal(f, "ends", ends(p.record()), [2]item.Seq{11, 11})
	equal(f, "the next entry", p.notes(21, 1)[0].Seq, 12)
}

// Shared entries stay while the fork needs them, whichever pod is purged or deleted. A
// fork of a purged log begins with its mark, and can be purged separately.
func forksKeepWhatIsPurged(f *fixture) {
	p := f.pod("p")
	shared := p.notes(1, 10)
	q := p.fork("q", 8)
	want := concat(shared[:8], q.notes(101, 2))
	mark := p.purge(9, 10)
	equal(f, "the fork", q.log(), want)
	equal(f, "the parent", p.log(), concat([]item.Entry{mark}, shared[9:]))
	r := p.fork("r", 10)
	equal(f, "a fork of a purged log", r.log(), p.log())
	equal(f, "its ends", ends(r.record()), [2]item.Seq{9, 10})
	r.gone(0, "9")
	more := r.notes(201, 2)
	f.must(f.s.DeletePod(f.Context(), "p"))
	f.reopen()
	equal(f, "the fork without its parent", q.log(), want)
	equal(f, "the late fork without its parent", r.log(), concat([]item.Entry{mark}, shared[9:], more))
	mark = q.purge(5, 0)
	equal(f, "the purged fork", q.log(), concat([]item.Entry{mark}, want[5:]))
	mark = q.purge(9, 0)
	equal(f, "the fork purged to its own entries", q.log(), concat([]item.Entry{mark}, want[9:]))
	mark = r.purge(11, 0)
	equal(f, "the late fork, purged", r.log(), concat([]item.Entry{mark}, more[1:]))
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "p", Name: "p again"}))
}

// A purge is refused, and changes nothing, if the log has grown since, has no such entry,
// or has a waiting submit in the range, and without a mark. A purged log cannot be forked
// or rewound to before the entry that its mark names.
func badPurgesAreRefused(f *fixture) {
	p := f.pod("p")
	purge := func(upTo, last item.Seq, mark item.Entry) error {
		return f.s.Purge(f.Context(), store.Purge{Pod: "p", UpTo: upTo, Last: last, Mark: mark})
	}
	mark := purgedMark(1, 7)
	p.notes(1, 4)
	waiting := p.submit("r", "hello")
	p.notes(6, 4)
	for _, last := range []item.Seq{8, 10, 0} {
		f.refused(purge(3, last, mark), item.KindPrecondition, store.ReasonLogGrew)
	}
	f.refused(purge(10, 9, mark), item.KindOutOfRange, store.ReasonBeyondEnd)
	f.refused(purge(0, 9, mark), item.KindOutOfRange, store.ReasonPurged)
	f.refused(purge(5, 9, mark), item.KindPrecondition, store.ReasonStillWaiting)
	f.refused(purge(3, 9, note(1)), item.KindInvalid, store.ReasonBadBatch)
	numbered := mark
	numbered.Seq = 3
	f.refused(purge(3, 9, numbered), item.KindInvalid, store.ReasonBadBatch)
	equal(f, "ends", ends(p.record()), [2]item.Seq{1, 9})
	p.batch(store.Batch{Dequeue: []item.Seq{waiting}})
	f.must(purge(5, 9, mark))
	f.refused(purge(4, 9, mark), item.KindOutOfRange, store.ReasonPurged)
	f.refused(purge(5, 9, mark), item.KindOutOfRange, store.ReasonPurged)

	for _, seq := range []item.Seq{4, 5, 6} {
		f.refused(p.tryFork("q", seq), item.KindOutOfRange, store.ReasonPurged)
		_, err := p.try(store.Batch{Entries: []item.Entry{note(1), {Time: at(1), Kind: item.Rewind{To: seq}}}})
		f.refused(err, item.KindOutOfRange, store.ReasonPurged)
		if e, ok := errors.AsType[*item.Error](err); ok {
			equal(f, "first_seq", e.Meta["first_seq"], "7")
		}
	}
	equal(f, "ends", ends(p.record()), [2]item.Seq{5, 9})
	q := p.fork("q", 7)
	q.append(item.Entry{Time: at(1), Kind: item.Rewind{To: 7}})
	_, err := q.try(store.Batch{Entries: []item.Entry{{Time: at(1), Kind: item.Rewind{To: 6}}}})
	f.refused(err, item.KindOutOfRange, store.ReasonPurged)
}

// Old acknowledged alerts are removed; sequences continue.
func oldAlertsAreDropped(f *fixture) {
	p := f.pod("p")
	for n := range 1200 {
		_, err := f.s.RaiseAlert(f.Context(), item.Alert{Text: "of the daemon", Time: at(0).Add(time.Duration(n) * 2 * store.FoldWithin)})
		f.must(err)
	}
	p.append(raised("acked"), raised("not acked"))
	var acked []item.Seq
	for seq := range item.Seq(1100) {
		acked = append(acked, seq+1)
	}
	f.must(f.s.AckAlerts(f.Context(), append(acked, 1201)))
	drop := func(before time.Time) int {
		f.Helper()
		n, err := f.s.PurgeAlerts(f.Context(), before)
		f.must(err)
		return n
	}
	equal(f, "dropped", drop(at(0)), 0)
	equal(f, "dropped", drop(at(0).Add(100*store.FoldWithin)), 51)
	f.reopen()
	equal(f, "left", len(f.alertSeqs(store.AlertQuery{Limit: 9999})), 1202-51)
	equal(f, "of the pod", f.alertSeqs(store.AlertQuery{Pod: "p"}), []item.Seq{1202})
	equal(f, "dropped", drop(at(0).Add(9999*store.FoldWithin)), 1050)
	equal(f, "left", len(f.alertSeqs(store.AlertQuery{Limit: 9999})), 101)
	f.refused(f.s.AckAlerts(f.Context(), []item.Seq{1}), item.KindNotFound, store.ReasonAlertNotFound)
	equal(f, "the next", p.append(raised("acked")).Alerts[0].Seq, 1203)
}
