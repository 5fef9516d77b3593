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
	// start is where the element begins, in tokens after the fixed prefix.
	start int
	// born is how many steps had been answered when it was added, turn how many
	// turns had begun.
	born, turn int
	pruned     bool
	// size is the factor of the chance to be needed again that its size gives.
	size float64
	// touched has what happened to the path later; nil unless this is a read with a
	// path.
	touched *touches
}

// tokens is what the element adds to the next request.
func (r *record) tokens() int {
	if r.pruned {
		return r.Stub
	}
	return r.Tokens
}

// sizeFactor says that a small result is needed again less often than a large one.
func sizeFactor(tokens int, c EconomicConfig) float64 {
	return max(c.SizeMin, min(1, math.Sqrt(float64(tokens)/float64(c.SizeFull))))
}

// touches is what happened to one path: the latest reads and edits that succeeded.
type touches struct {
	// edit and last are the latest edit, and the latest edit or read.
	edit, last item.Seq
	// step is how many steps had been answered before last.
	step int
}

// touch notes that a result read or edited a path, and gives what a read has to
// watch from then on.
func (l *Ledger) touch(e *Element) *touches {
	shows, edits := reads(e), e.Result && e.Kind == item.OutputEdit && e.Path != ""
	if !shows && !edits {
		return nil
	}
	t := l.paths[e.Path]
	if t == nil {
		t = new(touches)
		l.paths[e.Path] = t
	}
	if !e.IsError {
		t.last, t.step = e.Seq, l.steps
		if edits {
			t.edit = e.Seq
		}
	}
	if shows {
		return t
	}
	return nil
}

// reads says whether an element shows a file.
func reads(e *Element) bool { return e.Result && e.Kind == item.OutputRead && e.Path != "" }
