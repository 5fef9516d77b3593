package interceptor

import (
	"iter"

	"podd/pkg/item"
)

// Past is one item of a conversation, with its place in the pod's log.
type Past struct {
	// Seq is the sequence of its entry, Turn its turn; 0 for what the compaction of an idle
	// pod added again.
	Seq  item.Seq
	Turn int64
	Item item.Item
}

// Conversation is the part of the conversation that an interceptor may read: the items of
// the pod's log, in order, as they are stored. Messages, calls and results are whole,
// whatever the next request has of them. Items that were pruned, cut for a request or
// compacted are included; items that a rewind undid or a purge removed are not. The
// subject of the decision, and what other interceptors add to it, is not stored yet.
//
// Each item is a copy. The iteration reads the log in parts. An error is the last
// element; it says that the log can't be read, or that the turn ends. The iterators are
// valid only during the method that got them.
//
// The zero Conversation has no items.
type Conversation struct {
	read func(whole bool) iter.Seq2[Past, error]
}

// NewConversation is a Conversation whose items read returns: all, or those of the
// running turn.
func NewConversation(read func(whole bool) iter.Seq2[Past, error]) Conversation {
	return Conversation{read: read}
}

// History returns all items.
func (c Conversation) History() iter.Seq2[Past, error] { return c.items(true) }

// ThisTurn returns the items of the running turn. For a submit that begins a turn it is
// empty.
func (c Conversation) ThisTurn() iter.Seq2[Past, error] { return c.items(false) }

func (c Conversation) items(whole bool) iter.Seq2[Past, error] {
	if c.read == nil {
		return func(func(Past, error) bool) {}
	}
	return c.read(whole)
}
