package transcript

import (
	"time"

	"podd/pkg/item"
)

// Kind is the kind of a block.
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

// State is the progress of a block.
type State string

// The states. A message is Queued or Live until it is Done; a call never is Queued or
// Live; all other blocks are Done.
const (
	// Queued is a submit that no turn has taken yet.
	Queued State = "queued"
	// Live is text that the model is still writing.
	Live State = "live"
	// Lost is text that was live when the stream broke and that podd has not sent again yet.
	// It is not shown: podd either sends it again or it is dropped.
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
	// ID identifies the block in its transcript.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Seq is the entry that created or finished the block; for a call, the call's entry. It
	// is 0 while the block is live, and if the entry was not read.
	Seq   item.Seq `json:"seq,string"`
	Turn  int64    `json:"turn,string"`
	State State    `json:"state"`
	// Text is the message; for a call its result's summary, for an end its cause.
	Text string `json:"text"`
	// Detail belongs to a call: its arguments so far, its output so far, or its result's
	// content.
	Detail string `json:"detail"`
	// Code is the subject of a notice: one of the Code constants, or the origin of a system
	// message.
	Code string `json:"code,omitempty"`
	// Images are the pictures of a prompt, a notice or a result.
	Images []Image `json:"images,omitempty"`
	// The following are set for the kinds Tool, Alert and End.
	Call  Call      `json:"call,omitzero"`
	Alert AlertInfo `json:"alert,omitzero"`
	End   Ending    `json:"end,omitzero"`
}

// The codes of notices that are not system messages.
const (
	CodeRewind     = "rewind"
	CodeRestore    = "restore"
	CodeCompaction = "compaction"
	CodePurged     = "purged"
	CodeWithdrawn  = "withdrawn"
	CodeWing       = "wing"
	CodeRecovered  = "recovered"
	// CodeCut says that live text was discarded; the text says why. It has no entry in the
	// log, so it appears only in live streams.
	CodeCut      = "cut"
	CodeApproved = "approved"
	CodeDenied   = "denied"
)

// Call is a tool call.
type Call struct {
	// ID is the call's id; the block's id while the call is being written.
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Arguments are those that the model wrote and, once known, those that run.
	Arguments string `json:"arguments"`
	// Question is set while the call waits for a person.
	Question   Question `json:"question,omitzero"`
	DurationMS int64    `json:"duration_ms,omitempty"`
	// Diffs are what the call changed in files.
	Diffs *item.Diffs `json:"-"`
}

// Question is the approval question about a call, or what the running call asks.
type Question struct {
	Text string `json:"text"`
	// Digest identifies exactly what will run, in hexadecimal.
	Digest string `json:"digest"`
	// CallSeq is the call's entry, which an answer names; 0 if it was not read.
	CallSeq item.Seq  `json:"call_seq,string"`
	Expires time.Time `json:"expires,omitzero"`
	// Files is how many files the call would change by its previews, Runs how many previews show a
	// file that it executes; podd's approvals have the previews.
	Files int `json:"files,omitempty"`
	Runs  int `json:"runs,omitempty"`
	// Form says that the call runs and asks for an answer, not for an approval; podd's approvals have what it asks.
	Form bool `json:"form,omitempty"`
}

// AlertInfo is an alert without its text.
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

// grows is the part of a block that fragments extend: a call's Detail, otherwise the Text.
func (b *Block) grows() *string {
	if b.Kind == Tool {
		return &b.Detail
	}
	return &b.Text
}

// open says that the block is not finished.
func (b *Block) open() bool { return b.State != Done && b.State != Failed }
