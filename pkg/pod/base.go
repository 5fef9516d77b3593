package pod

import (
	"bytes"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

// A pod's base is the fold of its log up to an entry at which no turn is open: loading goes on
// from there and reads no entry before it but those that requests still carry. It is worth
// nothing more than the time that reading takes: where none fits the whole log is read.

// baseAfter is how many entries that a compaction stands for are read before a base is made
// that spares it.
var baseAfter item.Seq = 1000

// outdated says whether a base would spare enough.
func (a *actor) outdated(c *fold.Context) bool {
	return c.First()-1-max(a.based, a.journal.rec.First-1) >= baseAfter
}

// rebaseAtRest makes a base of the log, when a turn or a compaction has ended and it is due.
// What the pod's own state has of the log is as good, but a base is made of what is stored.
func (a *actor) rebaseAtRest() {
	if a.journal.broken != nil || a.folded == nil || !a.outdated(a.journal.carried) {
		return
	}
	f, _, err := a.host.Logs.folded(a.host.base, a.id, a.folded)
	if err != nil {
		a.log.Warn("the log could not be folded", "error", err)
		return
	}
	if differs(a, f) {
		a.log.Error(differentFold, "seq", f.Last)
	}
	a.rebase(f)
}

// differentFold is logged where podd has a defect: what a pod has in memory is not what its log
// folds into.
const differentFold = "the fold in memory differs from that of the log"

// differs says whether a pod's own fold, at rest, is another than that of its log. What a purge
// has removed since it was loaded only memory has.
func differs(a *actor, log *fold.Fold) bool {
	if log.First > max(a.journal.rec.First, 1) {
		return false
	}
	mine, err := a.folded.folding.Of(log.First, a.journal.rec.Last, a.journal.state, a.journal.carried).Save()
	stored, storedErr := log.Save()
	return err != nil || storedErr != nil || !bytes.Equal(mine, stored)
}

// rebase keeps the fold of the whole log as the pod's base, when it is due.
func (a *actor) rebase(f *fold.Fold) {
	if f.State.Turn.Open || !a.outdated(f.Context) {
		return
	}
	saved, err := f.Save()
	if err == nil {
		_, err = a.host.Store.Append(a.host.base, store.Batch{Pod: a.id, Epoch: a.journal.epoch, Base: &store.Base{Seq: f.Last, Fold: saved}})
	}
	if err != nil {
		a.log.Warn("what the log folds into could not be kept: loading the pod reads more", "error", err)
		return
	}
	a.based = f.Last
}
