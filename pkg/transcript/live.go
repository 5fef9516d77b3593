package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
)

// maxOutput bounds the output of a running call, in bytes; its end is kept.
const maxOutput = 1 << 20

// liveKinds are the blocks that fragments create, and their states.
var liveKinds = map[item.DeltaKind]struct {
	kind  Kind
	state State
}{
	item.DeltaText:          {Answer, Live},
	item.DeltaReasoning:     {Thought, Live},
	item.DeltaToolArguments: {Tool, Writing},
}

// live says that the block consists of fragments only.
func (b *block) live() bool { return b.State == Live || b.State == Writing || b.State == Lost }

func liveID(d item.Delta) string { return fmt.Sprintf("t%d:%s", d.Turn, d.Block) }

// delta adds a fragment.
func (t *Transcript) delta(d item.Delta) {
	if d.Restarted {
		t.restart(d)
		return
	}
	if t.lost {
		// podd has not sent the live text again: it was discarded.
		t.drop((*block).live)
		t.lost = false
	}
	if b := t.liveBlock(d); b != nil {
		b.grow(d.Text)
		t.put(b)
	}
}

// restart drops the live text of a step.
func (t *Transcript) restart(d item.Delta) {
	if t.drop(func(b *block) bool { return b.live() && b.Turn == d.Turn && b.step == d.Step }) {
		t.cuts++
		t.put(t.add(Block{ID: fmt.Sprintf("t%d.%d:cut%d", d.Turn, d.Step, t.cuts), Kind: Notice, Turn: d.Turn, State: Done, Code: CodeCut, Text: d.Text}))
	}
}

// inFlight replaces the live text with all text so far.
func (t *Transcript) inFlight(blocks []item.Delta) {
	t.lost = false
	t.drop(func(b *block) bool {
		return b.live() && !slices.ContainsFunc(blocks, func(d item.Delta) bool { return b.ID == liveID(d) })
	})
	for _, d := range blocks {
		if b := t.liveBlock(d); b != nil {
			if b.State == Lost {
				b.State = liveKinds[d.Kind].state
			}
			b.text.Reset()
			b.grow(d.Text)
			t.put(b)
		}
	}
}

// hide marks live blocks as Lost: podd's next messages say which of them continue.
func (t *Transcript) hide() {
	for _, b := range t.blocks {
		if b.live() && b.State != Lost {
			b.State = Lost
			t.put(b)
		}
	}
}

// liveBlock is the block that a fragment belongs to; nil if the fragment is not shown.
func (t *Transcript) liveBlock(d item.Delta) *block {
	if d.Kind == item.DeltaToolOutput {
		if id := callID(d.CallID); t.find(func(b *block) bool { return b.ID == id && !b.open() }) != nil {
			return nil
		}
		b := t.call(d.Turn, d.CallID, d.Tool)
		b.State = Running
		return b
	}
	id := liveID(d)
	b := t.find(func(b *block) bool { return b.live() && b.ID == id })
	as, known := liveKinds[d.Kind]
	switch {
	case !known || b == nil && d.Text == "" && as.kind != Tool:
		return nil
	case b == nil:
		b = t.add(Block{ID: id, Kind: as.kind, Turn: d.Turn, State: as.state})
		b.step = d.Step
	}
	if as.kind == Tool {
		b.Call = Call{ID: id, Tool: cmp.Or(d.Tool, b.Call.Tool)}
	}
	return b
}

// grow adds text to the growing part of a block.
func (b *block) grow(text string) {
	b.text.WriteString(text)
	if b.State == Running && b.text.Len() > maxOutput {
		end := b.text.String()[b.text.Len()-maxOutput/2:]
		b.text.Reset()
		b.text.WriteString(strings.ToValidUTF8(end, ""))
	}
	*b.grows() = b.text.String()
}

// finished is the oldest live block of a kind and turn, for the entry that finishes it; nil
// if no such block exists.
func (t *Transcript) finished(turn int64, kind Kind) *block {
	i := slices.IndexFunc(t.blocks, func(b *block) bool { return b.live() && b.Kind == kind && b.Turn == turn })
	if i < 0 {
		return nil
	}
	return t.blocks[i]
}
