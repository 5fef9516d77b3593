package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"podd/internal/wire"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// Options say how a Transcript is kept.
type Options struct {
	// Last is how many finished blocks stay in Blocks, about; 0 means all. That older ones
	// leave is no Change.
	Last int
}

// Transcript is a stream as blocks. It is for one goroutine. Give it each message of the
// stream once and in order.
type Transcript struct {
	last   int
	blocks []*block
	// turn is the running turn; claimed are its submits whose message has not come.
	turn    int64
	claimed []string
	// lost says that the stream broke, and podd has not said yet what is live.
	lost bool
	// cuts counts what was cut, to name it.
	cuts   int
	change Change
}

// block is a Block under way.
type block struct {
	Block
	step int
	// text is what grows, as long as it grows; told what the last Put had of it.
	text strings.Builder
	told string
}

// Change is what a message changes.
type Change struct {
	// Entry is the message's entry, if it has one.
	Entry *item.Entry `json:"-"`
	// Drop are the blocks that are gone. A block that moves to the end is in Drop and Put.
	Drop []string `json:"drop,omitempty"`
	// Put are the blocks that are new, at the end, and those that changed, in place.
	Put []Put `json:"put,omitempty"`
	// CaughtUp says that all that stood in the log has been read.
	CaughtUp bool `json:"caught_up,omitempty"`
}

// Put is a block that is new or has changed.
type Put struct {
	// Kept is how many bytes of the block's growing part, a call's detail or another's text,
	// are as they were told last. A renderer that only appends goes on there; less than it
	// has printed means that the text was cut.
	Kept  int   `json:"kept"`
	Block Block `json:"block"`
}

// MarshalJSON leaves the kept part out: whoever reads it has it.
func (p Put) MarshalJSON() ([]byte, error) {
	type plain Put
	grown := p.Block.grows()
	*grown = (*grown)[p.Kept:]
	return json.Marshal(plain(p))
}

// New makes a Transcript.
func New(o Options) *Transcript { return &Transcript{last: o.Last} }

// Turn is the running turn; 0 when none runs.
func (t *Transcript) Turn() int64 { return t.turn }

// Lost says that the stream broke: what is live goes on behind the next CaughtUp, or it is
// void.
func (t *Transcript) Lost() { t.lost = true }

// Blocks are those to show, in their order.
func (t *Transcript) Blocks() []Block {
	var list []Block
	for _, b := range t.blocks {
		if b.State != Lost {
			list = append(list, b.Block)
		}
	}
	return list
}

// Apply takes the next message.
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

// add makes a block at the end, in place of one of this name. What it is to say is put later.
func (t *Transcript) add(b Block) *block {
	t.drop(func(other *block) bool { return other.ID == b.ID })
	added := &block{Block: b}
	t.blocks = append(t.blocks, added)
	return added
}

// put tells what a block is now.
func (t *Transcript) put(b *block) {
	now := *b.grows()
	kept := 0
	if strings.HasPrefix(now, b.told) {
		kept = len(b.told)
	}
	b.told = now
	t.change.Put = append(t.change.Put, Put{kept, b.Block})
}

// drop takes blocks away.
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

// find is the last block that is wanted, nil when there is none.
func (t *Transcript) find(wanted func(*block) bool) *block {
	for _, b := range slices.Backward(t.blocks) {
		if wanted(b) {
			return b
		}
	}
	return nil
}

// forget lets old finished blocks go, many at once.
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
