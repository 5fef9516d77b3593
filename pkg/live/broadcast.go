package live

import (
	"slices"
	"sync"
	"unicode/utf8"

	"podd/pkg/item"
)

// MaxBlock bounds the kept text of one unfinished block, in bytes. A longer block loses
// its older half; its entry has the whole text.
const MaxBlock = 1 << 20

// Broadcast wakes readers when a log grows, and gives them the text in flight. All
// methods may be called from any goroutine.
type Broadcast struct {
	mu      sync.Mutex
	head    item.Seq
	blocks  []*block
	readers map[*Reader]struct{}
	closed  error
}

// block is one unfinished item: the fragment that opened it and its text without the
// first dropped bytes. text only grows in place, so that a part given to a reader never
// changes.
type block struct {
	item.Delta
	text    []byte
	dropped int
}

// New makes a Broadcast for a log whose last sequence is head.
func New(head item.Seq) *Broadcast {
	return &Broadcast{head: head, readers: make(map[*Reader]struct{})}
}

// Publish adds a fragment. One with Restarted voids all blocks of its step.
func (b *Broadcast) Publish(d item.Delta) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.Restarted {
		b.forget(func(k *block) bool { return k.Turn == d.Turn && k.Step == d.Step })
	} else {
		b.grow(d)
	}
	for r := range b.readers {
		if d.Restarted && r.joined {
			restart := d // With &d each fragment would be on the heap.
			r.restart = &restart
		}
		r.signal()
	}
}

// Advance says that the log now reaches head and contains the named blocks. Call it after
// the commit has returned; a head below the last one changes nothing.
func (b *Broadcast) Advance(head item.Seq, done ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.head = max(b.head, head)
	if len(done) > 0 {
		b.forget(func(k *block) bool { return slices.Contains(done, k.Block) })
	}
	for r := range b.readers {
		r.signal()
	}
}

// Answer is how many bytes of the model's answer are in flight: its text, its reasoning and
// the arguments of its calls.
func (b *Broadcast) Answer() (bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.blocks {
		if k.Kind != item.DeltaToolOutput {
			bytes += k.dropped + len(k.text)
		}
	}
	return bytes
}

// Forget drops the text in flight when its turn will not finish it.
func (b *Broadcast) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(func(*block) bool { return true })
}

// Close ends all readers with cause, now and later.
func (b *Broadcast) Close(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return
	}
	b.closed = cause
	for r := range b.readers {
		r.signal()
	}
}

// grow adds a fragment to the text of its block.
func (b *Broadcast) grow(d item.Delta) {
	i := slices.IndexFunc(b.blocks, func(k *block) bool { return k.Block == d.Block })
	if i < 0 {
		b.blocks = append(b.blocks, &block{Delta: d})
		i = len(b.blocks) - 1
	}
	k := b.blocks[i]
	if d.CallID != "" {
		k.CallID = d.CallID
	}
	if d.Tool != "" {
		k.Tool = d.Tool
	}
	k.text = append(k.text, d.Text...)
	if len(k.text) > MaxBlock {
		gone := len(k.text) - MaxBlock/2
		k.text = slices.Clone(k.text[gone:])
		k.dropped += gone
	}
}

// forget drops blocks, and the readers' offsets in them.
func (b *Broadcast) forget(gone func(*block) bool) {
	b.blocks = slices.DeleteFunc(b.blocks, func(k *block) bool {
		if !gone(k) {
			return false
		}
		for r := range b.readers {
			delete(r.seen, k)
		}
		return true
	})
}

// after is the block with its text after the first seen bytes, up to the last whole rune,
// and the offset at which that text ends.
func (k *block) after(seen int) (d item.Delta, now int) {
	text := whole(k.text[max(seen-k.dropped, 0):])
	d = k.Delta
	d.Text = string(text)
	return d, max(seen, k.dropped) + len(text)
}

// whole is b without an incomplete rune at its end.
func whole(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}
