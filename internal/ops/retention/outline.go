package retention

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// outline is what the rule has to know of a log. It is made by adding all entries.
type outline struct {
	// breaks are the entries after which no turn is open.
	breaks []pause
	open   bool
	bytes  int64
	// compactions are those that rewinds left in force.
	compactions []standIn
	// notes are those that rewinds left in force, oldest first.
	notes []note
}

// note is one that a client left: its entry, and the one by which a turn took it in; 0 while
// it waits.
type note struct{ seq, taken item.Seq }

// pause is an entry at which a log may be parted.
type pause struct {
	seq  item.Seq
	time time.Time
	// bytes are those of the log up to here.
	bytes int64
}

// standIn is a compaction: the entry, and the last that its summary stands for.
type standIn struct{ seq, upTo item.Seq }

func (o *outline) add(e item.Entry, size int) {
	o.bytes += int64(size)
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		o.open = true
	case item.TurnEnded:
		o.open = false
	case item.Compaction:
		o.compactions = append(o.compactions, standIn{e.Seq, k.UpTo})
	case item.Note:
		o.notes = append(o.notes, note{seq: e.Seq})
	case item.ItemAdded:
		if m, ok := k.Item.(item.SystemMessage); ok && m.Origin == item.OriginNote {
			if n := slices.IndexFunc(o.notes, note.waits); n >= 0 {
				o.notes[n].taken = e.Seq
			}
		}
	case item.Rewind:
		o.rewind(k.To)
	}
	if !o.open {
		o.breaks = append(o.breaks, pause{e.Seq, e.Time, o.bytes})
	}
}

func (n note) waits() bool { return n.taken == 0 }

// rewind takes note that what comes after an entry does not count. A note that was left there,
// and waits, stands behind the rewind again; one that was taken in there waits again. Were a
// log parted in there, its first entry would not count either. When this rewind is taken back
// one day less is removed than could be.
func (o *outline) rewind(to item.Seq) {
	o.compactions = slices.DeleteFunc(o.compactions, func(c standIn) bool { return c.seq > to })
	o.breaks = slices.DeleteFunc(o.breaks, func(b pause) bool { return b.seq > to })
	o.notes = slices.DeleteFunc(o.notes, func(n note) bool { return n.seq > to })
	for i := range o.notes {
		if o.notes[i].taken > to {
			o.notes[i].taken = 0
		}
	}
	n := len(o.breaks)
	o.open = to > 0 && (n == 0 || o.breaks[n-1].seq != to)
}

// removable are the breaks up to which entries may go: the last compaction stands for
// them, and none of them waits.
func (o *outline) removable(waiting item.Seq) []pause {
	if len(o.compactions) == 0 {
		return nil
	}
	floor := o.compactions[len(o.compactions)-1].upTo
	if waiting > 0 {
		floor = min(floor, waiting-1)
	}
	if n := slices.IndexFunc(o.notes, note.waits); n >= 0 {
		floor = min(floor, o.notes[n].seq-1)
	}
	n, found := slices.BinarySearchFunc(o.breaks, floor, func(b pause, seq item.Seq) int { return int(b.seq - seq) })
	if found {
		n++
	}
	return o.breaks[:n]
}

// from is the first compaction that stands for all entries up to a sequence.
func (o *outline) from(upTo item.Seq) item.Seq {
	for _, c := range o.compactions {
		if c.upTo >= upTo {
			return c.seq
		}
	}
	return 0
}
