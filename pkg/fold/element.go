package fold

import (
	"math"

	"podd/pkg/item"
)

// Element is one item of the conversation in the form for pruning: sizes and marks, no
// text.
type Element struct {
	// Seq names the item in decisions: the sequence of its entry. Sequences ascend.
	Seq item.Seq
	// Tokens is what the item adds to a request, all that goes with it on the wire
	// included; Stub is the same once it is pruned. Stub counts for results and for items
	// with images; a result that has neither content nor images has Stub equal to Tokens.
	Tokens, Stub int
	// Cut is how many tokens more a result would have if it had not been cut.
	Cut int
	// Images is how many images the item has.
	Images int
	// StartsTurn says that a user message begins a turn here.
	StartsTurn bool
	// Result says that this is a tool result. The fields below are for results.
	Result bool
	// Kind is what the result is made of; an unknown kind is treated as item.OutputOther.
	Kind item.OutputKind
	// Path is the file that was read or written, in the same spelling in all elements; empty
	// without one.
	Path string
	// Lines are those that a read shows of its file.
	Lines Lines
	// IsError and Sticky are those of the output.
	IsError, Sticky bool
}

// saving is how many tokens a request loses when the element is pruned.
func (e *Element) saving() int { return e.Tokens - e.Stub }

// record is an element and what the ledger stores about it.
type record struct {
	Element
	// Born is how many steps had been answered when it was added, Turn how many turns had
	// begun.
	Born, Turn int
	// Gone says why it is left out; nil if it is not.
	Gone *gone
	// Edited is the last edit of the file that it shows, Reread the last read that shows its lines
	// again; 0 for none. Touched is how many steps had been answered before the later one.
	Edited, Reread item.Seq
	Touched        int

	// start is the element's offset, in tokens after the fixed prefix; size is the factor
	// that its size gives to the probability to be needed again. Both are derived.
	start int
	size  float64
}

// pruned says that only a result's summary is sent, or an item without its images.
func (r *record) pruned() bool { return r.Gone != nil }

// tokens is what the element adds to the next request.
func (r *record) tokens() int {
	if r.pruned() {
		return r.Stub
	}
	return r.Tokens
}

// sizeFactor is lower for a small result, which is needed again less often than a large
// one.
func sizeFactor(tokens int, c EconomicConfig) float64 {
	return max(c.SizeMin, min(1, math.Sqrt(float64(tokens)/float64(c.SizeFull))))
}

// touch notes what a result says of the files that earlier ones show: that it edited one, or
// shows the same lines again.
func (l *Ledger) touch(e *Element) {
	if !e.Result || e.Path == "" || e.IsError || e.Kind != item.OutputRead && e.Kind != item.OutputEdit {
		return
	}
	for i := range l.kept.Records {
		r := &l.kept.Records[i]
		switch {
		case !r.Result || r.Kind != item.OutputRead || r.Path != e.Path:
		case e.Kind == item.OutputEdit:
			r.Edited, r.Touched = e.Seq, l.kept.Steps
		case e.Lines.cover(r.Lines):
			r.Reread, r.Touched = e.Seq, l.kept.Steps
		}
	}
}
