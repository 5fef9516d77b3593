package pod

import (
	"bytes"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

// A pod's base is the fold of its log up to an entry at which no turn is open. Loading
// continues from there, and reads of the earlier entries only those that requests still
// have. A base only saves time: without a valid one podd reads the whole log.

// baseAfter is how many entries behind a compaction loading may read before podd makes a
// base that saves it.
var baseAfter item.Seq = 1000

// outdated says whether a new base would save enough.
func (a *actor) outdated(c *fold.Context) bool {
	return c.First()-1-max(a.based, a.journal.rec.First-1) >= baseAfter
}

// rebaseAtRest makes a base of the log if one is due, when a turn or a compaction has
// ended. The pod's own state is equal, but a base is made from what is stored.
func (a *actor) rebaseAtRest() {
	if a.journal.broken != nil || a.folded == nil || !a.outdated(a.journal.carried) {
		return
	}
	f, _, err := a.host.Logs.folded(a.host.base, a.id, a.folded)
	if err != nil {
		a.log.Warn("cannot fold the log", "error", err)
		return
	}
	if a.differsFrom(f) {
		a.log.Error(differentFold, "seq", f.Last)
	}
	a.rebase(f)
}

// differentFold is logged for an internal error: a pod's state in memory differs from the
// fold of its log.
const differentFold = "the fold in memory differs from that of the log"

// differsFrom says whether a pod's own fold, at rest, differs from that of its log. Only
// memory has what a purge has removed since the pod was loaded.
func (a *actor) differsFrom(log *fold.Fold) bool {
	if log.First > max(a.journal.rec.First, 1) {
		return false
	}
	mine, err := a.folded.folding.Of(log.First, a.journal.rec.Last, a.journal.state, a.journal.carried).Save()
	stored, storedErr := log.Save()
	return err != nil || storedErr != nil || !bytes.Equal(mine, stored)
}

// rebase stores the fold of the whole log as the pod's base, if one is due.
func (a *actor) rebase(f *fold.Fold) {
	if f.State.Turn.Open || !a.outdated(f.Context) {
		return
	}
	saved, err := f.Save()
	if err == nil {
		_, err = a.host.Store.Append(a.host.base, store.Batch{Pod: a.id, Epoch: a.journal.epoch, Base: &store.Base{Seq: f.Last, Fold: saved}})
	}
	if err != nil {
		a.log.Warn("cannot save the base: loading the pod will read more of its log", "error", err)
		return
	}
	a.based = f.Last
}
