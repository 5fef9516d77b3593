package transcript

import (
	"time"

	"podd/pkg/item"
)

// Kind says what a block is.
type Kind string

// The kinds of block.
const (
	User    Kind = "user"
	Answer  Kind = "answer"
	Thought Kind = "thought"
	Tool    Kind = "call"
	Notice  Kind = "notice"
	Alert   Kind = "alert"
	End     Kind = "end"
)

// State says how far a block is.
type State string

// The states. A message is Queued or Live until it is Done; a call has all states but
// Queued and Live; other blocks are Done.
const (
	// Queued is a submit that no turn has taken.
	Queued State = "queued"
	// Live is text that the model is still writing.
	Live State = "live"
	// Lost is text that was live when the stream broke and that podd has not sent again.
	// It is not shown: it goes on, or it is dropped.
	Lost State = "lost"
	Done State = "done"

	// Writing is a call whose arguments the model is still writing.
	Writing State = "writing"
	ToRun   State = "to_run"
	Asks    State = "asks"
	Running State = "running"
	Failed  State = "failed"
)

// Block is one piece of a transcript.
type Block struct {
	// ID names the block in its transcript.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Seq is the entry that made the block, or that finished it; of a call, the call's. It is
	// 0 while the block is live, and where the entry was not read.
	Seq   item.Seq `json:"seq,string"`
	Turn  int64    `json:"turn,string"`
	State State    `json:"state"`
	// Text is the message; of a call its result's summary, of an end its cause.
	Text string `json:"text"`
	// Detail is a call's: its arguments so far while they are written, what it has printed so
	// far, or its result's content.
	Detail string `json:"detail"`
	// Code is what a notice is about: one of the Code constants, or the origin of a system
	// message.
	Code string `json:"code,omitempty"`
	// The following are set for the kinds Tool, Alert and End.
	Call  Call      `json:"call,omitzero"`
	Alert AlertInfo `json:"alert,omitzero"`
	End   Ending    `json:"end,omitzero"`
}

// The codes of notices that are not of system messages.
const (
	CodeRewind     = "rewind"
	CodeCompaction = "compaction"
	CodePurged     = "purged"
	CodeWithdrawn  = "withdrawn"
	// CodeCut says that live text came to nothing. No log has it: it comes only while one
	// watches. The text says why.
	CodeCut      = "cut"
	CodeApproved = "approved"
	CodeDenied   = "denied"
)

// Call is a tool call.
type Call struct {
	// ID is the call's id; the block's while the call is being written.
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Arguments are what the model wrote and, once that is known, what runs.
	Arguments string `json:"arguments"`
	// Question is set while the call asks.
	Question   Question `json:"question,omitzero"`
	DurationMS int64    `json:"duration_ms,omitempty"`
}

// Question is what a person is asked about a call.
type Question struct {
	Text string `json:"text"`
	// Digest is that of exactly what will run, in hexadecimal.
	Digest string `json:"digest"`
	// CallSeq is the call's entry, which an answer names; 0 when that was not read.
	CallSeq item.Seq  `json:"call_seq,string"`
	Expires time.Time `json:"expires,omitzero"`
}

// AlertInfo is what an alert says beside its text.
type AlertInfo struct {
	Seq    item.Seq   `json:"seq,string"`
	Level  item.Level `json:"level"`
	Source string     `json:"source"`
	Count  int64      `json:"count,string"`
}

// Ending is how a turn ended.
type Ending struct {
	Outcome item.Outcome `json:"outcome"`
	Reason  string       `json:"reason"`
	Steps   int          `json:"steps"`
	Usage   Usage        `json:"usage"`
}

// Usage is an item.Usage.
type Usage struct {
	Input       int64 `json:"input_tokens,string"`
	CachedInput int64 `json:"cached_input_tokens,string"`
	CacheWrite  int64 `json:"cache_write_tokens,string"`
	Output      int64 `json:"output_tokens,string"`
	Reasoning   int64 `json:"reasoning_tokens,string"`
	Requests    int64 `json:"requests,string"`
}

// grows is the part of a block that fragments add to: a call's Detail, else the Text.
func (b *Block) grows() *string {
	if b.Kind == Tool {
		return &b.Detail
	}
	return &b.Text
}

// open says that the block is not finished.
func (b *Block) open() bool { return b.State != Done && b.State != Failed }
