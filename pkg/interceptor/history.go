package interceptor

import (
	"iter"

	"podd/pkg/item"
)

// Past is one item of a conversation, with its place in the pod's log.
type Past struct {
	// Seq is the sequence of its entry, Turn the turn that it belongs to; 0 for what the
	// compaction of an idle pod brought back.
	Seq  item.Seq
	Turn int64
	Item item.Item
}

// Conversation is what an interceptor may read of the conversation so far: the items of
// the pod's log, in order, as they are stored. Messages, calls and results are whole,
// whatever the next request carries of them: what was pruned, cut for a request or
// compacted is there, what a rewind took back or a purge removed is not. What is being
// decided on, and what other interceptors add to it, is not stored yet.
//
// Each item is a copy. The log is read as the iteration goes on, a part at a time. An
// error is the last element; it says that the log can't be read, or that the turn ends.
// The iterators are for the method that got them: it does not keep them.
//
// The zero Conversation has no items.
type Conversation struct {
	read func(whole bool) iter.Seq2[Past, error]
}

// NewConversation is one that read gives the items of: all, or those of the turn that
// runs.
func NewConversation(read func(whole bool) iter.Seq2[Past, error]) Conversation {
	return Conversation{read: read}
}

// History gives all items.
func (c Conversation) History() iter.Seq2[Past, error] { return c.items(true) }

// ThisTurn gives the items of the turn that runs. A submit that begins a turn finds none.
func (c Conversation) ThisTurn() iter.Seq2[Past, error] { return c.items(false) }

func (c Conversation) items(whole bool) iter.Seq2[Past, error] {
	if c.read == nil {
		return func(func(Past, error) bool) {}
	}
	return c.read(whole)
}
