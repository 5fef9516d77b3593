package fold

import (
	"math"

	"podd/pkg/item"
)

// Element is what pruning knows of one item of the conversation: sizes and marks,
// no text.
type Element struct {
	// Seq names the item in decisions: the sequence of its entry. Sequences ascend.
	Seq item.Seq
	// Tokens is what the item adds to a request, all that goes with it on the wire
	// included; Stub is the same once it is pruned. Stub counts for results alone;
	// a result that has no content has Stub equal to Tokens.
	Tokens, Stub int
	// StartsTurn says that a user message begins a turn here.
	StartsTurn bool
	// Result says that this is a tool result. The fields below are for results.
	Result bool
	// Kind is what the result is made of; any kind that is not known counts as
	// item.OutputOther.
	Kind item.OutputKind
	// Path is the file that was read or written, spelled alike in all elements;
	// empty when there is none.
	Path string
	// IsError and Sticky are those of the output.
	IsError, Sticky bool
}

// saving is how many tokens a request loses when the element is pruned.
func (e *Element) saving() int { return e.Tokens - e.Stub }

// record is an element and what the ledger remembers about it.
type record struct {
	Element
	// Born is how many steps had been answered when it was added, Turn how many turns had
	// begun.
	Born, Turn int
	Pruned     bool
	// Touched is which of the touched paths, from 1, this shows; 0 for none.
	Touched int

	// start is where the element begins, in tokens after the fixed prefix; size is the factor
	// of the chance to be needed again that its size gives. Both are derived.
	start int
	size  float64
}

// tokens is what the element adds to the next request.
func (r *record) tokens() int {
	if r.Pruned {
		return r.Stub
	}
	return r.Tokens
}

// sizeFactor says that a small result is needed again less often than a large one.
func sizeFactor(tokens int, c EconomicConfig) float64 {
	return max(c.SizeMin, min(1, math.Sqrt(float64(tokens)/float64(c.SizeFull))))
}

// touches is what happened to a path: the latest reads and edits that succeeded.
type touches struct {
	Path string
	// Edit and Last are the latest edit, and the latest edit or read.
	Edit, Last item.Seq
	// Step is how many steps had been answered before Last.
	Step int
}

// touch notes that a result read or edited a path. It gives the path's place, from 1, where
// the result shows the file; else 0.
func (l *Ledger) touch(e *Element) int {
	shows := e.Result && e.Kind == item.OutputRead && e.Path != ""
	edits := e.Result && e.Kind == item.OutputEdit && e.Path != ""
	if !shows && !edits {
		return 0
	}
	i, ok := l.paths[e.Path]
	if !ok {
		i = len(l.kept.Touched)
		l.paths[e.Path], l.kept.Touched = i, append(l.kept.Touched, touches{Path: e.Path})
	}
	if t := &l.kept.Touched[i]; !e.IsError {
		t.Last, t.Step = e.Seq, l.kept.Steps
		if edits {
			t.Edit = e.Seq
		}
	}
	if shows {
		return i + 1
	}
	return 0
}
