package fold

import (
	"slices"

	"podd/pkg/item"
)

// CompactionPoint is how many of the first items a summary may replace, so that at most
// keep tokens of items stay unchanged. It never splits an answer, nor separates a call
// from its result; ok is false if nothing would be gained.
func (s *Context) CompactionPoint(keep int) (n int, ok bool) {
	if len(s.open) > 0 {
		return 0, false
	}
	n = len(s.items)
	kept := 0
	for i := len(s.items) - 1; i > 0; i-- {
		if kept += s.ledger.kept.Records[i].tokens(); kept > keep {
			break
		}
		if s.begins(i) {
			n = i
		}
	}
	// A summary of one item, even with the state after it, is not smaller.
	return n, n > 1 && slices.ContainsFunc(s.items[1:n], func(it item.Item) bool { return !isState(it) })
}

// isState says whether an item is a state message, which changes between turns.
func isState(it item.Item) bool {
	m, ok := it.(item.SystemMessage)
	return ok && m.Origin == item.OriginState
}

// TokensWith is how many tokens the next request would have with a summary in place of
// the first n items.
func (s *Context) TokensWith(n int, summary item.SystemMessage) int {
	return s.Tokens() - s.ledger.start(n) + s.kept.Meter.tokens(size(summary))
}

// begins says whether the items before i can be removed.
func (s *Context) begins(i int) bool {
	switch s.items[i].(type) {
	case item.UserMessage:
		return true
	case item.AssistantMessage, item.Reasoning, item.ToolCall:
		return !answers(s.items[i-1])
	}
	return false
}

// answers says whether an item is the model's own.
func answers(it item.Item) bool {
	switch it.(type) {
	case item.AssistantMessage, item.Reasoning, item.ToolCall:
		return true
	}
	return false
}

// SummaryRequest asks for a summary of the first n items. Results go into it as their
// summaries and images as their names, so that it fits where the conversation itself does not.
func (s *Context) SummaryRequest(n int, instruction string) Request {
	r := s.Request()
	items := make([]item.Item, 0, n+1)
	for _, it := range r.Items[:n] {
		items = append(items, bare(it))
	}
	r.Items = append(items, item.UserMessage{Text: instruction})
	return r
}

// BytesOf is about how many bytes of text have so many tokens; 0 if tokens is below 0.
func (s *Context) BytesOf(tokens int) int {
	return max(0, int(float64(tokens)*s.kept.Meter.bytesPerToken()))
}

// SeqOf is the entry of the n-th item, from 1.
func (s *Context) SeqOf(n int) item.Seq { return s.seqs[n-1] }

// Window is the model's context window in tokens; 0 if unknown.
func (s *Context) Window() int { return s.ledger.kept.Terms.Window }
