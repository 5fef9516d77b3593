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
	// notes are those that no turn has taken in yet, oldest first.
	notes []item.Seq
}

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
		o.notes = append(o.notes, e.Seq)
	case item.ItemAdded:
		if m, ok := k.Item.(item.SystemMessage); ok && m.Origin == item.OriginNote && len(o.notes) > 0 {
			o.notes = o.notes[1:]
		}
	case item.Rewind:
		o.rewind(k.To)
	}
	if !o.open {
		o.breaks = append(o.breaks, pause{e.Seq, e.Time, o.bytes})
	}
}

// rewind takes note that what comes after an entry does not count. Were a log parted in
// there, its first entry would not count either. When this rewind is taken back one day
// less is removed than could be.
func (o *outline) rewind(to item.Seq) {
	o.compactions = slices.DeleteFunc(o.compactions, func(c standIn) bool { return c.seq > to })
	o.breaks = slices.DeleteFunc(o.breaks, func(b pause) bool { return b.seq > to })
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
	if len(o.notes) > 0 {
		floor = min(floor, o.notes[0]-1)
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
