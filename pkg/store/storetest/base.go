package storetest

import (
	"podd/pkg/item"
	"podd/pkg/store"
)

// base reads a pod's base; nil without one.
func (p *owned) base() *store.Base {
	p.f.Helper()
	b, ok, err := p.f.s.Base(p.f.Context(), p.id)
	p.f.must(err)
	if !ok {
		equal(p.f, "a missing base", b, store.Base{})
		return nil
	}
	return &b
}

// based is a base that ends at a sequence.
func based(seq item.Seq, fold string) *store.Base { return &store.Base{Seq: seq, Fold: []byte(fold)} }

// A base is the one stored last, with entries or alone, and storing it changes nothing
// else of the pod. A rewind to before its end, a purge, and deleting its pod remove it;
// later entries do not.
func basesStandForWhatIsThere(f *fixture) {
	p, other := f.pod("p"), f.pod("pp")
	p.notes(1, 5)
	other.notes(1, 3)
	equal(f, "no base", p.base(), nil)
	before := p.record()
	p.batch(store.Batch{Base: based(5, "five")})
	equal(f, "record", p.record(), before)
	other.batch(store.Batch{Base: based(2, "")})
	equal(f, "with entries", len(p.batch(store.Batch{Entries: []item.Entry{note(6), note(7)}, Base: based(7, "seven")}).Records), 2)
	p.notes(8, 3)
	rewind := func(to item.Seq) { p.append(item.Entry{Time: at(20), Kind: item.Rewind{To: to}}) }
	for range 2 {
		equal(f, "base", p.base(), based(7, "seven"))
		rewind(7)
		f.reopen()
	}
	rewind(6)
	equal(f, "after a rewind behind it", p.base(), nil)
	p.batch(store.Batch{Base: based(9, "nine")})
	p.purge(8, 0)
	equal(f, "after a purge of what it folds", p.base(), nil)
	p.batch(store.Batch{Base: based(11, "eleven")})
	f.must(f.s.DeletePod(f.Context(), "p"))
	f.reopen()
	equal(f, "another pod's", other.base().Seq, 2)
	again := f.pod("p")
	equal(f, "a deleted pod's", again.base(), nil)
}

// A fork has the base of the entries that it shares, as its own.
func forksHaveTheBase(f *fixture) {
	p := f.pod("p")
	p.notes(1, 6)
	p.batch(store.Batch{Base: based(4, "four")})
	early, exact, late := p.fork("early", 3), p.fork("exact", 4), p.fork("late", 6)
	equal(f, "before it", early.base(), nil)
	late.append(item.Entry{Time: at(6), Kind: item.Rewind{To: 2}})
	equal(f, "after a rewind", late.base(), nil)
	f.must(f.s.DeletePod(f.Context(), "p"))
	f.reopen()
	equal(f, "at it", exact.base(), based(4, "four"))
}

// A base of entries that the log does not have is refused, and changes nothing.
func badBasesAreRefused(f *fixture) {
	p := f.pod("p")
	for _, seq := range []item.Seq{-1, 0, 2} {
		_, err := p.try(store.Batch{Entries: []item.Entry{note(1)}, Base: based(seq, "x")})
		f.refused(err, item.KindInvalid, store.ReasonBadBatch)
	}
	equal(f, "log", len(p.log()), 0)
	p.notes(1, 4)
	p.purge(3, 0)
	_, err := p.try(store.Batch{Base: based(2, "x")})
	f.refused(err, item.KindInvalid, store.ReasonBadBatch)
	_, err = p.try(store.Batch{Epoch: p.epoch + 1, Base: based(4, "x")})
	f.refused(err, item.KindPrecondition, store.ReasonStaleEpoch)
	equal(f, "base", p.base(), nil)
}
