package projection

import (
	"podd/pkg/item"
	"podd/pkg/llm"
)

// State is the fold of a log, entry by entry, into what the next request carries.
// The zero State is that of an empty log. It belongs to one goroutine.
type State struct {
	setup *item.Setup
	items []item.Item
	// open holds the calls that have no result yet, by id; known, all call ids.
	open  []item.ToolCall
	known map[string]struct{}
}

// Add folds the next entry in. Entries come in the order of the log.
func (s *State) Add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Setup:
		s.setup = &k
	case item.ItemAdded:
		s.add(k.Item)
	}
}

func (s *State) add(it item.Item) {
	s.items = append(s.items, it)
	switch it := it.(type) {
	case item.ToolCall:
		if s.known == nil {
			s.known = make(map[string]struct{})
		}
		s.known[it.CallID] = struct{}{}
		s.open = append(s.open, it)
	case item.ToolResult:
		for i, call := range s.open {
			if call.CallID == it.CallID {
				s.open = append(s.open[:i:i], s.open[i+1:]...)
				break
			}
		}
	}
}

// Setup is the last stored setup; ok is false before the first.
func (s *State) Setup() (setup item.Setup, ok bool) {
	if s.setup == nil {
		return item.Setup{}, false
	}
	return *s.setup, true
}

// OpenCalls are the tool calls without a result, in the order of the log.
func (s *State) OpenCalls() []item.ToolCall { return s.open }

// KnownCall says whether a call id stands in the log.
func (s *State) KnownCall(id string) bool {
	_, ok := s.known[id]
	return ok
}

// Request is the next model request. Its items must not be changed.
func (s *State) Request() llm.Request {
	var r llm.Request
	if s.setup != nil {
		r.Setup = *s.setup
	}
	r.Items = s.items[:len(s.items):len(s.items)]
	return r
}
