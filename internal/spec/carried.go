package spec

import (
	"slices"
	"sort"

	"podd/pkg/item"
)

// carried checks what requests send: items, setups, prunes, compactions and notes, and what rewinds undo of them.
type carried struct {
	*findings
	// base is the mark of a purge; 0 in a whole log.
	base   item.Seq
	undone spans
	// items are the items and summaries that no rewind undid, prunes the prunes, setups the setups.
	items  []placed
	prunes []pruned
	setups []setup
	notes  []note
	// taken counts the first notes, which joined.
	taken int
	// compacted says that the entries since the last compaction are what is read again.
	compacted bool
}

// placed is an item. pruned says that its result is sent as its summary, or it without its images.
type placed struct {
	seq    item.Seq
	pruned bool
}

type pruned struct {
	at   item.Seq
	seqs []item.Seq
}

type setup struct {
	at  item.Seq
	ref item.ModelRef
}

// note is one that was left; taken is its item.
type note struct {
	seq, taken item.Seq
	item       item.SystemMessage
}

func newCarried(f *findings) carried { return carried{findings: f} }

func (c *carried) add(e item.Entry) {
	compacted := c.compacted
	c.compacted = false
	switch k := e.Kind.(type) {
	case item.Purged:
		c.base = e.Seq
		if k.Setup != nil {
			c.setups = append(c.setups, setup{e.Seq, k.Setup.ModelRef()})
		}
	case item.ItemAdded:
		c.item(e, k.Item, compacted)
	case item.Setup:
		c.setups = append(c.setups, setup{e.Seq, k.ModelRef()})
	case item.RequestUsage:
		c.asks(k)
	case item.Prune:
		c.prune(e.Seq, k)
	case item.Compaction:
		if i := c.find(k.UpTo); k.UpTo > c.base && i < 0 {
			c.fail(compactsBefore, "the compaction replaces items up to #%d, but requests do not send that item", k.UpTo)
		}
		c.items = append(c.items, placed{seq: e.Seq})
		c.compacted = true
	case item.Note:
		c.notes = append(c.notes, note{seq: e.Seq, item: k.Item()})
	case item.Rewind:
		c.rewind(e, k.To)
	}
}

// find is the place of an item, or -1.
func (c *carried) find(seq item.Seq) int {
	i := sort.Search(len(c.items), func(i int) bool { return c.items[i].seq >= seq })
	if i == len(c.items) || c.items[i].seq != seq {
		return -1
	}
	return i
}

func (c *carried) item(e item.Entry, it item.Item, compacted bool) {
	m, system := it.(item.SystemMessage)
	again := system && m.Origin == item.OriginReadBack
	if c.compacted = compacted && again; !c.compacted && (again || e.Turn == 0) {
		c.fail(itemsInTurns, "the item joins outside of a turn, or is read again without a compaction")
	}
	c.items = append(c.items, placed{seq: e.Seq})
	if !system || !m.FromNote() {
		return
	}
	switch {
	case c.taken < len(c.notes) && c.notes[c.taken].item == m:
		c.notes[c.taken].taken = e.Seq
		c.taken++
	case c.base == 0: // A purge may have removed a note that joined later.
		c.fail(notesInOrder, "the note that joins is not the oldest that waits")
	}
}

func (c *carried) asks(k item.RequestUsage) {
	if k.Purpose != "" {
		return
	}
	if len(c.setups) == 0 {
		c.fail(asksSetUp, "a step without a setup")
		return
	}
	now := c.setups[len(c.setups)-1].ref
	if k.Asked != "" && k.Asked != now.Model || k.Endpoint != "" && now.Endpoint != "" && k.Endpoint != now.Endpoint {
		c.fail(asksSetUp, "the step asks %s at %s, the setup says %s", k.Asked, k.Endpoint, now)
	}
}

func (c *carried) prune(at item.Seq, k item.Prune) {
	for _, seq := range k.Seqs {
		if seq <= c.base {
			continue
		}
		i := c.find(seq)
		if i < 0 || c.items[i].pruned {
			c.fail(prunesOnce, "requests do not send #%d whole", seq)
			continue
		}
		c.items[i].pruned = true
	}
	c.prunes = append(c.prunes, pruned{at, slices.Clone(k.Seqs)})
}

func (c *carried) rewind(e item.Entry, to item.Seq) {
	if to >= e.Seq || to < max(c.base, 1) || !c.undone.counts(to) || e.Turn != 0 {
		c.fail(rewindsBack, "the rewind goes to #%d, where history cannot go on", to)
		return
	}
	c.undone.add(to, e.Seq)
	c.items = c.items[:cut(c.items, to, func(p placed) item.Seq { return p.seq })]
	c.setups = c.setups[:cut(c.setups, to, func(s setup) item.Seq { return s.at })]
	n := cut(c.prunes, to, func(p pruned) item.Seq { return p.at })
	for _, p := range c.prunes[n:] {
		for _, seq := range p.seqs {
			if i := c.find(seq); i >= 0 {
				c.items[i].pruned = false
			}
		}
	}
	c.prunes = c.prunes[:n]
	c.notes = c.notes[:cut(c.notes, to, func(n note) item.Seq { return n.seq })]
	for c.taken = min(c.taken, len(c.notes)); c.taken > 0 && c.notes[c.taken-1].taken > to; c.taken-- {
		c.notes[c.taken-1].taken = 0
	}
}
