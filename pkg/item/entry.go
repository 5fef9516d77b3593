package item

import (
	"reflect"
	"slices"
	"time"
)

// Seq is the position of an entry in a pod's log: from 1, dense. 0 means before
// the first.
type Seq int64

// Entry is one record of a pod's log.
type Entry struct {
	// Seq is assigned by the store; 0 until then.
	Seq Seq
	// Time is when podd wrote it; stored with nanoseconds, in UTC.
	Time time.Time
	// Turn is the turn that it belongs to, from 1; 0 outside of turns.
	Turn int64
	Kind Kind
}

// Kind is what an entry records. The kinds are the types of this file, always as
// values; an item's entry has the kind ItemAdded.
type Kind interface {
	isKind()
}

// SubmitMode says when a submit joins the conversation of a busy pod.
type SubmitMode string

// The submit modes. The empty mode means ModeQueue.
const (
	ModeQueue SubmitMode = "queue"
	ModeSteer SubmitMode = "steer"
)

// Submitted records an accepted submit, its references already resolved.
type Submitted struct {
	RequestID string
	Mode      SubmitMode
	Segments  []Segment
	// Items is what the file references resolved to, in order of appearance.
	Items []Item
	// Text is the user message's text as the model will see it.
	Text string
}

// Promoted records that waiting submits joined a running turn.
type Promoted struct {
	RequestIDs []string
}

// Withdrawn records that a client took waiting submits back.
type Withdrawn struct {
	RequestIDs []string
}

// TurnStarted is the claim of a turn. It names the submits that the turn took;
// none when a note started it.
type TurnStarted struct {
	RequestIDs []string
}

// Outcome says how a turn ended.
type Outcome string

// The outcomes.
const (
	OutcomeFinished    Outcome = "finished"
	OutcomeCancelled   Outcome = "cancelled"
	OutcomeFailed      Outcome = "failed"
	OutcomeInterrupted Outcome = "interrupted"
	OutcomeLimit       Outcome = "limit"
)

// TurnEnded is the one terminal entry of a turn.
type TurnEnded struct {
	Outcome Outcome
	// Cause is one sentence; empty when the turn finished.
	Cause string
	// Reason is the cause as a word for programs, in UPPER_SNAKE_CASE; empty when
	// the turn finished.
	Reason string
	// Usage is what the turn's requests were billed.
	Usage Usage
	// Steps counts the turn's model requests, ToolCalls its tool calls.
	Steps, ToolCalls int
}

// Setup is what a request sends beside the items. It is stored whenever it
// differs from the one before.
type Setup struct {
	Model               string
	API                 string
	Instructions        string
	ProjectInstructions string
	// Tools are in the order in which they are sent.
	Tools []ToolSpec
	// Renderer is the version of the code that turns a log into a request.
	Renderer int
	// FileRefRole is "system" to send file references with that literal role; any
	// other sends them as the user's, in a frame.
	FileRefRole string
	// OutputLimits bound what is sent of results, whatever limits they were stored under:
	// the general limit, then those of tools that have their own, by name. Without any,
	// results are sent as they are stored.
	OutputLimits []OutputLimit
}

// Equal says whether two setups send the same. An empty list is like none.
func (s Setup) Equal(other Setup) bool {
	if !slices.Equal(s.Tools, other.Tools) || !slices.Equal(s.OutputLimits, other.OutputLimits) {
		return false
	}
	s.Tools, s.OutputLimits = other.Tools, other.OutputLimits
	return reflect.DeepEqual(s, other)
}

// OutputLimit bounds the content of a tool's results.
type OutputLimit struct {
	// Tool is empty for the general limit.
	Tool               string
	MaxBytes, MaxLines int
	// Strategy says which part is kept, HeadPercent the head's share where both ends are.
	Strategy    string
	HeadPercent int
}

// ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, compact, keys in a fixed order.
	Schema string
}

// ItemAdded records that the conversation grew by one item.
type ItemAdded struct {
	Item Item
}

// ToolStarted is written before a tool runs; the call is never run again after it. A
// question that follows says that the tool found the call changed and did nothing.
type ToolStarted struct {
	CallID string
	Tool   string
	// Arguments is what the tool receives: validated and encoded once.
	Arguments string
}

// RequestUsage records one answered model request.
type RequestUsage struct {
	Usage Usage
	// Measured says whether the endpoint sent a usage at all.
	Measured bool
	// Model is the model that answered, as the endpoint names it; Asked the one that was
	// asked.
	Model, Asked string
	ResponseID   string
	// Step is the step of the turn, from 1.
	Step int
	// RequestBytes is the size of the request's body, PrefixBytes how much of it is
	// the same as in the request before: what a prompt cache can hold. PrefixBytes
	// is 0 for the first request after a pod was loaded.
	RequestBytes, PrefixBytes int64
	// Purpose is empty for a step of a turn; PurposeCompaction and PurposeSummarize are
	// requests for a summary, PurposeDiscarded for an answer that was not kept, and
	// PurposeSubPod stands for those of another pod.
	Purpose string
	// Predicted is how many input tokens were expected when the request was sent.
	Predicted int64
	// DurationMS is from sending the request to the end of the answer, in
	// milliseconds.
	DurationMS int64
}

// PurposeCompaction marks a request that asked for the summary of a compaction.
const PurposeCompaction = "compaction"

// PurposeSummarize marks a request that asked for the summary of a tool's output. Its
// answer stands in the result that follows in the log.
const PurposeSummarize = "summarize"

// PurposeDiscarded marks a request whose answer came and could not be kept. It was billed.
const PurposeDiscarded = "discarded"

// PurposeSubPod marks the record of what a spawned pod was billed by one model for the
// turn that a call of this pod waited for. Each of its requests stands in that pod's own
// log too.
const PurposeSubPod = "sub_pod"

// Prune names results that are sent as their summary from now on.
type Prune struct {
	// Seqs are the entries of the results.
	Seqs   []Seq
	Policy string
	Reason string
}

// Compaction lets a summary stand for the items up to UpTo in what is sent.
type Compaction struct {
	Summary Item
	UpTo    Seq
	Reason  string
}

// ApprovalRequested records that a call waits for a person.
type ApprovalRequested struct {
	CallID string
	// Digest is the SHA-256 of exactly what will run, 32 bytes.
	Digest   string
	Question string
	// Tool and Arguments are what will run, once it is approved.
	Tool, Arguments string
	// Expires is when the call counts as denied.
	Expires time.Time
}

// ApprovalResolved records the decision on a waiting call.
type ApprovalResolved struct {
	CallID   string
	Approved bool
	By       string
	Reason   string
}

// Rewind makes history go on from an earlier entry.
type Rewind struct {
	To Seq
}

// Purged begins a log whose older entries were removed. It has the sequence of the
// last of them and keeps what the rest of the log needs of them.
type Purged struct {
	// At is when they were removed. The entry's own time and turn are those of the last
	// removed one, so that both only grow in a log.
	At time.Time
	// Entries is how many were removed, by earlier purges too.
	Entries int64
	// From is the compaction whose summary stands for them in what is sent. Before it
	// what was sent is not known any more: the log is not forked at an earlier entry,
	// nor rewound to one.
	From Seq
	// Setup is the last of the removed ones; nil when there was none.
	Setup *Setup
	// Totals count what they recorded.
	Totals Totals
	Reason string
}

// Totals count what the entries of a log recorded.
type Totals struct {
	Turns, Compactions int64
	// Prunes counts decisions, PrunedResults the results that they named,
	// PrunedTokens what the next request lost by them, as estimated then.
	Prunes, PrunedResults, PrunedTokens int64
	// Requests and Tools have no two elements that differ in their counts alone.
	Requests []RequestTotal
	Tools    []ToolTotal
}

// Usage is that of all requests.
func (t Totals) Usage() (sum Usage) {
	for _, r := range t.Requests {
		sum = sum.Add(r.Usage)
	}
	return sum
}

// RequestTotal counts the model requests that had these in common.
type RequestTotal struct {
	// Model, Asked, Purpose and Measured are those of RequestUsage.
	Model, Asked, Purpose string
	Measured              bool
	Usage                 Usage
}

// Request is the sum of the requests as if it were one.
func (t RequestTotal) Request() RequestUsage {
	return RequestUsage{Usage: t.Usage, Measured: t.Measured, Model: t.Model, Asked: t.Asked, Purpose: t.Purpose}
}

// ToolTotal counts the results of one tool.
type ToolTotal struct {
	Tool          string
	Calls, Errors int64
	// Cuts counts outputs that were cut; CutTotal and CutKept are their bytes, whole
	// and as kept.
	Cuts, CutTotal, CutKept int64
}

// Note is a system note of a client.
type Note struct {
	Text string
	// Wake starts a turn when the pod is idle.
	Wake bool
}

// Recovered records that an open turn was taken up again.
type Recovered struct {
	Reason string
	// CallIDs are the calls that had been started and have no result yet.
	CallIDs []string
	// Waited says that the turn did no work of its own when it was left: it waited, or
	// podd was told to stop, or the log could not be written. Such a recovery does not
	// count against the bound on how often a turn is taken up.
	Waited bool
}

// AlertRaised records an alert in the log of its pod.
type AlertRaised struct {
	Alert Alert
}

// UnknownKind is an entry of a kind that this podd does not know: a newer one
// wrote it.
type UnknownKind struct{}

func (Submitted) isKind()         {}
func (Promoted) isKind()          {}
func (TurnStarted) isKind()       {}
func (TurnEnded) isKind()         {}
func (Setup) isKind()             {}
func (ItemAdded) isKind()         {}
func (ToolStarted) isKind()       {}
func (RequestUsage) isKind()      {}
func (Prune) isKind()             {}
func (Compaction) isKind()        {}
func (ApprovalRequested) isKind() {}
func (ApprovalResolved) isKind()  {}
func (Rewind) isKind()            {}
func (Withdrawn) isKind()         {}
func (Purged) isKind()            {}
func (Note) isKind()              {}
func (Recovered) isKind()         {}
func (AlertRaised) isKind()       {}
func (UnknownKind) isKind()       {}
