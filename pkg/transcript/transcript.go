package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Options configure a Transcript.
type Options struct {
	// Last is about how many finished blocks stay in Blocks; 0 means all. Older blocks leave
	// without a Change.
	Last int
}

// Transcript is a stream as blocks. It is for one goroutine. Apply each message of the
// stream once and in order.
type Transcript struct {
	last   int
	blocks []*block
	// turn is the running turn; claimed are its submits whose message has not arrived.
	turn    int64
	claimed []string
	// lost says that the stream broke, and podd has not sent the live text again yet.
	lost bool
	// cuts counts discarded texts, to name their notices.
	cuts   int
	change Change
}

// block is a Block and its state while it grows.
type block struct {
	Block
	step int
	// text is the growing part while it grows; told is that part as of the last Put.
	text strings.Builder
	told string
}

// Change is the effect of a message.
type Change struct {
	// Entry is the message's entry, if it has one.
	Entry *item.Entry `json:"-"`
	// Drop are the removed blocks. A block that moves to the end is in Drop and in Put.
	Drop []string `json:"drop,omitempty"`
	// Put are new blocks, which go to the end, and changed ones, which stay in place.
	Put []Put `json:"put,omitempty"`
	// CaughtUp says that the stream has reached the end of the stored log.
	CaughtUp bool `json:"caught_up,omitempty"`
}

// Put is a new or changed block.
type Put struct {
	// Kept is how many bytes of the block's growing part (a call's detail, another's text)
	// are unchanged since the last Put. A renderer that only appends continues there; if it
	// has printed more, the text was cut.
	Kept  int   `json:"kept"`
	Block Block `json:"block"`
}

// MarshalJSON leaves the kept part out: the reader has it already.
func (p Put) MarshalJSON() ([]byte, error) {
	type plain Put
	grown := p.Block.grows()
	*grown = (*grown)[p.Kept:]
	return json.Marshal(plain(p))
}

// New creates a Transcript.
func New(o Options) *Transcript { return &Transcript{last: o.Last} }

// Turn is the running turn; 0 without one.
func (t *Transcript) Turn() int64 { return t.turn }

// Lost says that the stream broke: after the next CaughtUp, live text either continues or
// is dropped.
func (t *Transcript) Lost() { t.lost = true }

// Blocks are the blocks to show, in order.
func (t *Transcript) Blocks() []Block {
	var list []Block
	for _, b := range t.blocks {
		if b.State != Lost {
			list = append(list, b.Block)
		}
	}
	return list
}

// Apply applies the next message.
func (t *Transcript) Apply(m *poddv1.StreamResponse) Change {
	t.change = Change{}
	switch k := m.GetKind().(type) {
	case *poddv1.StreamResponse_Entry:
		e := wire.EntryFromProto(k.Entry)
		t.change.Entry = &e
		t.entry(e)
		t.forget()
	case *poddv1.StreamResponse_Delta:
		t.delta(wire.DeltaFromProto(k.Delta))
	case *poddv1.StreamResponse_InFlight:
		t.inFlight(wire.InFlightFromProto(k.InFlight))
	case *poddv1.StreamResponse_CaughtUp:
		t.change.CaughtUp = true
		if t.lost {
			t.hide()
		}
	}
	return t.change
}

// add creates a block at the end, replacing one with the same ID. put reports it later.
func (t *Transcript) add(b Block) *block {
	t.drop(func(other *block) bool { return other.ID == b.ID })
	added := &block{Block: b}
	t.blocks = append(t.blocks, added)
	return added
}

// put reports a block as it is now.
func (t *Transcript) put(b *block) {
	now := *b.grows()
	kept := 0
	if strings.HasPrefix(now, b.told) {
		kept = len(b.told)
	}
	b.told = now
	t.change.Put = append(t.change.Put, Put{kept, b.Block})
}

// drop removes blocks.
func (t *Transcript) drop(gone func(*block) bool) (dropped bool) {
	before := len(t.change.Drop)
	t.blocks = slices.DeleteFunc(t.blocks, func(b *block) bool {
		if !gone(b) {
			return false
		}
		t.change.Drop = append(t.change.Drop, b.ID)
		return true
	})
	return len(t.change.Drop) > before
}

// find is the last block that wanted accepts, or nil.
func (t *Transcript) find(wanted func(*block) bool) *block {
	for _, b := range slices.Backward(t.blocks) {
		if wanted(b) {
			return b
		}
	}
	return nil
}

// forget removes old finished blocks, many at once.
func (t *Transcript) forget() {
	if t.last == 0 || len(t.blocks) < 2*t.last+16 {
		return
	}
	over := len(t.blocks) - t.last
	t.blocks = slices.DeleteFunc(t.blocks, func(b *block) bool {
		over--
		return over >= 0 && !b.open()
	})
}
