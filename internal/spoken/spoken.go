// Package spoken keeps account of text that is shown while a model makes it: which
// blocks stand before the reader's eyes, and what of their final text is still to be
// shown. What shows the text is the caller's: a terminal, an editor.
//
// Rank 0. A Text is for one goroutine.
package spoken

import (
	"slices"
	"strings"
)

// Text is text that is shown while it is made: its blocks in the order in which they
// began, each until its entry comes.
type Text struct {
	blocks []*block
}

type block struct {
	id   string
	text strings.Builder
}

// Begun says whether anything of an entry that has not come is shown.
func (t *Text) Begun() bool { return len(t.blocks) > 0 }

// Shows says whether a block is shown whose entry has not come.
func (t *Text) Shows(id string) bool {
	return slices.ContainsFunc(t.blocks, func(b *block) bool { return b.id == id })
}

// Forget drops what is shown: it came to nothing.
func (t *Text) Forget() { t.blocks = nil }

// Fragment adds to a block. first says that the block begins with it.
func (t *Text) Fragment(id, text string) (first bool) {
	b := t.last()
	if first = b == nil || b.id != id; first {
		b = &block{id: id}
		t.blocks = append(t.blocks, b)
	}
	b.text.WriteString(text)
	return first
}

// Whole takes all text so far of a block and gives what of it is not shown yet. ok
// is false when something else is shown in its place.
func (t *Text) Whole(id, text string) (rest string, ok bool) {
	for _, b := range t.blocks {
		if b.id == id {
			return strings.CutPrefix(text, b.text.String())
		}
	}
	return text, true
}

// Entry takes the text of the oldest block's entry and gives what of it is not shown
// yet. ok is false when what is shown is not the start of it, or other text is shown
// behind it: then the whole text is to be shown.
func (t *Text) Entry(text string) (rest string, ok bool) {
	if len(t.blocks) == 0 {
		return text, true
	}
	b := t.blocks[0]
	t.blocks = t.blocks[1:]
	rest, ok = strings.CutPrefix(text, b.text.String())
	return rest, ok && (rest == "" || len(t.blocks) == 0)
}

func (t *Text) last() *block {
	if len(t.blocks) == 0 {
		return nil
	}
	return t.blocks[len(t.blocks)-1]
}
