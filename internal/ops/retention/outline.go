package retention

import (
	"cmp"
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// outline is what the rule needs to know about a log.
type outline struct {
	log  *fold.Log
	fold *fold.Fold
	// breaks are the entries after which no turn is open.
	breaks []pause
	bytes  int64
	// compactions are those in force.
	compactions []standIn
	// cut says that a rewind went into the middle of a turn, and none has ended since.
	cut bool
}

// pause is an entry at which a log may be split.
type pause struct {
	seq  item.Seq
	time time.Time
	// bytes is the size of the log up to here.
	bytes int64
}

// standIn is a compaction: its entry, and the last entry that its summary replaces.
type standIn struct{ seq, upTo item.Seq }

// add adds an entry that was folded. Entries that a rewind undid do not count: if the log
// were split among them, its first entry would not count either.
func (o *outline) add(e item.Entry, size int) {
	o.bytes += int64(size)
	if !o.log.Counts(e.Seq) {
		return
	}
	switch k := e.Kind.(type) {
	case item.TurnEnded:
		o.cut = false
	case item.Compaction:
		o.compactions = append(o.compactions, standIn{e.Seq, k.UpTo})
	case item.Rewind:
		_, parts := o.find(k.To)
		o.cut = !parts
	}
	if !o.cut && !o.fold.State.Turn.Open {
		o.breaks = append(o.breaks, pause{e.Seq, e.Time, o.bytes})
	}
}

// find is the index of the break at an entry, or where it would be.
func (o *outline) find(seq item.Seq) (int, bool) {
	return slices.BinarySearchFunc(o.breaks, seq, func(b pause, seq item.Seq) int { return cmp.Compare(b.seq, seq) })
}

// removable are the breaks up to which entries may be removed: the last compaction replaces
// them, and none of them is a waiting note or pending.
func (o *outline) removable(waiting item.Seq) []pause {
	if len(o.compactions) == 0 {
		return nil
	}
	floor := o.compactions[len(o.compactions)-1].upTo
	if waiting > 0 {
		floor = min(floor, waiting-1)
	}
	if notes := o.fold.State.Notes; len(notes) > 0 {
		floor = min(floor, notes[0].Seq-1)
	}
	if pending := o.fold.State.Pending; len(pending) > 0 {
		floor = min(floor, pending[0]-1)
	}
	n, found := o.find(floor)
	if found {
		n++
	}
	return o.breaks[:n]
}

// from is the first compaction that replaces all entries up to a sequence.
func (o *outline) from(upTo item.Seq) item.Seq {
	for _, c := range o.compactions {
		if c.upTo >= upTo {
			return c.seq
		}
	}
	return 0
}
