package llm

import "podd/pkg/item"

// Event is one step of a streaming answer. The kinds are BlockStart, BlockDelta, BlockEnd
// and End, always as values. An answer is a sequence of blocks, numbered from 0 in the
// order of their starts; blocks may overlap.
type Event interface {
	isEvent()
}

// BlockKind says what a block becomes.
type BlockKind string

// The kinds of block.
const (
	BlockText      BlockKind = "text"
	BlockReasoning BlockKind = "reasoning"
	BlockToolCall  BlockKind = "tool_call"
)

// BlockStart opens a block.
type BlockStart struct {
	Block int
	Kind  BlockKind
	// CallID and Name are a tool call's. CallID is empty when the endpoint sends
	// none.
	CallID, Name string
}

// BlockDelta adds text to a block: the message, the reasoning or the arguments.
type BlockDelta struct {
	Block int
	Text  string
}

// BlockEnd closes a block. A block that is still open at End is complete.
type BlockEnd struct {
	Block int
	// Text is the block's final text if that differs from the deltas; otherwise empty. The
	// final form wins.
	Text string
	// Opaque goes back to the endpoint with the item.
	Opaque item.Opaque
}

// StopReason says why a model stopped.
type StopReason string

// The stop reasons.
const (
	// StopDone: the answer is whole, and its calls are to be run.
	StopDone StopReason = "done"
	// StopLength: the endpoint's output limit cut the answer; a call in it may be
	// half-written and must not be run.
	StopLength StopReason = "length"
	// StopFilter: the endpoint withheld the rest.
	StopFilter StopReason = "filter"
)

// End closes a whole answer.
type End struct {
	Stop StopReason
	// Reason is Stop in the endpoint's words, such as stop_reason tool_use; may be empty.
	Reason string
	// Usage is what was billed; Measured is false when the endpoint sent none.
	Usage    item.Usage
	Measured bool
	// Model is the model as the endpoint names it; may be empty.
	Model      string
	ResponseID string
}

func (BlockStart) isEvent() {}
func (BlockDelta) isEvent() {}
func (BlockEnd) isEvent()   {}
func (End) isEvent()        {}
