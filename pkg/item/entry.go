package item

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Seq is the position of an entry in a pod's log: from 1, without gaps. 0 means before
// the first.
type Seq int64

// Entry is one record of a pod's log.
type Entry struct {
	// Seq is assigned by the store; 0 before that.
	Seq Seq
	// Time is when podd wrote the entry; stored with nanoseconds, in UTC.
	Time time.Time
	// Turn is the turn of the entry, from 1; 0 outside of turns.
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
	// Items are the resolved file references, in order of appearance.
	Items []Item
	// Text is the user message's text as the model will see it.
	Text string
	// Plan says that a turn that begins with it only plans: it reads and changes nothing.
	Plan bool
	// AnswerSchema is the JSON Schema that the last answer of its turn must match; empty
	// without one.
	AnswerSchema string
	// Choice is the model and the effort that it chooses for its turn.
	Choice Choice
	// NoQuestions says that nobody answers questions in its turn.
	NoQuestions bool
}

// Promoted records that waiting submits joined a running turn.
type Promoted struct {
	RequestIDs []string
}

// Withdrawn records that a client withdrew waiting submits.
type Withdrawn struct {
	RequestIDs []string
}

// TurnStarted is the claim of a turn. It names the submits that the turn took; it names
// none when a note started the turn.
type TurnStarted struct {
	RequestIDs []string
	// Plan says that the turn only plans: it reads and changes nothing.
	Plan bool
	// AnswerSchema is the JSON Schema that its last answer must match; empty without one.
	AnswerSchema string
	// Choice is the model and the effort that its submit chose.
	Choice Choice
	// NoQuestions says that nobody answers questions in the turn.
	NoQuestions bool
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
	// Cost is the price of that in USD, as of then; 0 if a request had no price.
	Cost float64
	// Steps counts the turn's model requests, ToolCalls its tool calls.
	Steps, ToolCalls int
}

// Setup is what a request sends besides the items. It is stored whenever it differs from
// the one before.
type Setup struct {
	Model string
	API   string
	// Endpoint is the name of the endpoint; empty in entries of older versions of podd.
	Endpoint string
	// Options shape the answers.
	Options Options
	// Body has the members that the configuration adds to each body: one JSON object, keys
	// sorted, or empty.
	Body string
	// CacheKey groups the requests of a pod and its forks in the endpoint's prompt cache.
	CacheKey string
	// UnsignedCalls says that the conversation ends in calls without reasoning that the
	// model could read, such as those of another model.
	UnsignedCalls bool
	// Base, Environment and Instructions are sent in this order as one text, [Setup.System]:
	// base instructions, where the pod works, and what the operator says.
	Base, Environment, Instructions string
	ProjectInstructions             string
	// Tools are in the order in which they are sent.
	Tools []ToolSpec
	// Renderer is the version of the code that turns a log into a request.
	Renderer int
	// FileRefRole is "system" to send file references with that literal role; any other
	// value sends them as the user's, in a frame.
	FileRefRole string
	// NoImages says that the model takes no images: it is sent their descriptions.
	NoImages bool
	// Window is the model's context window in tokens, as the configuration or the endpoint
	// says; 0 is what the catalogue says.
	Window int
	// AnswerLimit is the most tokens that the model answers with, where the API requires a
	// limit and no option sets it; 0 if that is unknown.
	AnswerLimit int64
	// OutputLimits bound the results that are sent, whatever limits they were stored under:
	// the general limit, then those of single tools, by name. An empty list sends results as
	// they are stored. They are here so that the same log gives the same request after the
	// configuration has changed.
	OutputLimits []OutputLimit
}

// System is the text that precedes the conversation.
func (s Setup) System() string {
	parts := make([]string, 0, 3)
	for _, text := range []string{s.Base, s.Environment, s.Instructions} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n")
	}
	return strings.Join(parts, "\n\n")
}

// Equal says whether two setups send the same. A nil list equals an empty one.
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
	// Strategy says which part is kept, HeadPercent the head's share when both ends are.
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

// ToolStarted is written before a tool runs; podd never runs the call again after it. A
// later question about the call, or another start with other plans, says that the tool found the
// call changed and did nothing.
type ToolStarted struct {
	CallID string
	Tool   string
	// Arguments are what the tool receives: validated and encoded once.
	Arguments string
	// Planned are the files that the call is about to change; empty if its tool cannot say.
	Planned []PlannedChange
	// Boot identifies the boot of the machine and the podd on it; empty if unknown. What a call left in files that were not synced
	// says nothing after another boot.
	Boot string
}

// PlannedChange is what a call is about to make of a file. By it podd knows after a kill
// whether it did.
type PlannedChange struct {
	// Path is relative to the workspace if the file is inside.
	Path string
	// Before and After identify the content; see BaseOf. NoFile means that there is no file.
	Before, After string
}

// RequestUsage records one answered model request.
type RequestUsage struct {
	Usage Usage
	// Measured says whether the endpoint sent a usage.
	Measured bool
	// Model is the model that answered, as the endpoint names it; Asked is the requested
	// one, at Endpoint.
	Model, Asked, Endpoint string
	ResponseID             string
	// Step is the step of the turn, from 1.
	Step int
	// RequestBytes is the size of the request's body. PrefixBytes is how much of it is the
	// same as in the previous request, and may be in a prompt cache; 0 for the first request
	// after a pod was loaded.
	RequestBytes, PrefixBytes int64
	// Purpose is empty for a step of a turn. PurposeCompaction and PurposeSummarize are
	// requests for a summary, PurposeDiscarded is one whose answer was not kept, and
	// PurposeSubPod sums up those of another pod.
	Purpose string
	// Predicted is the number of input tokens expected when the request was sent.
	Predicted int64
	// DurationMS is the time from sending the request to the end of the answer, in
	// milliseconds.
	DurationMS int64
	// Above is, of a sum, what InputAbove is of each of its requests.
	Above int64
	Terms
}

// longInputs are the sizes of input, in tokens, above which some vendor charges more.
var longInputs = []int64{512_000, 272_000, 256_000, 200_000, 128_000}

// InputAbove is the largest size that the request's input exceeds, of those above which
// some vendor charges more; 0 for none.
func (u RequestUsage) InputAbove() int64 {
	if u.Above > 0 || u.Usage.Requests > 1 || u.Purpose == PurposeSubPod {
		return u.Above
	}
	for _, size := range longInputs {
		if u.Usage.Input > size {
			return size
		}
	}
	return 0
}

// PurposeCompaction marks a request for the summary of a compaction.
const PurposeCompaction = "compaction"

// PurposeSummarize marks a request for the summary of a tool's output. Its answer is in
// the next result of the log.
const PurposeSummarize = "summarize"

// PurposeDiscarded marks a request whose answer came and could not be kept. It was
// billed.
const PurposeDiscarded = "discarded"

// PurposeSubPod marks the record of what one model billed a sub-pod for the turn that a
// call of this pod waited for. The sub-pod's own log has each of the requests too.
const PurposeSubPod = "sub_pod"

// Prune names results that requests send as their summary from now on.
type Prune struct {
	// Seqs are the entries of the results.
	Seqs   []Seq
	Policy string
	Reason string
}

// Compaction makes requests send a summary in place of the items up to UpTo.
type Compaction struct {
	Summary Item
	UpTo    Seq
	Reason  string
}

// ApprovalRequested records that a call waits for a person: before it runs, for an approval, or while it runs, with a form,
// for an answer.
type ApprovalRequested struct {
	CallID string
	// Digest is the SHA-256 of exactly what will run, or of the form, 32 bytes.
	Digest   string
	Question string
	// Tool and Arguments are what will run after the approval.
	Tool, Arguments string
	// Previews are what the call would make of files; empty if its tool cannot say.
	Previews []Preview
	// Expires is when podd denies the call without an answer, or withdraws the form; zero is never.
	Expires time.Time
	// Form is what the running call asks; nil for an approval. Key tells the forms of one call apart.
	Form *Form
	Key  string
}

// AlertText is the text of the alert about the question.
func (r ApprovalRequested) AlertText() string {
	if r.Form != nil {
		return fmt.Sprintf("%s waits for an answer: %s", r.Tool, r.Question)
	}
	return fmt.Sprintf("%s waits for approval: %s", r.Tool, r.Question)
}

// ApprovalResolved records the decision on a waiting call, or the answer to its form.
type ApprovalResolved struct {
	CallID string
	// Approved says that the call may run, or that the form is answered.
	Approved bool
	By       string
	Reason   string
	// Key is that of the form, Replies are the answers to its questions, one each. Reason then says them in words.
	Key     string
	Replies []FormReply
	// Dismissed says that the person leaves the answer to the model; Withdrawn that podd took the form back, because
	// nobody waits for an answer any more.
	Dismissed, Withdrawn bool
}

// Rewind makes history continue from an earlier entry.
type Rewind struct {
	To Seq
}

// Purged begins a log whose older entries were removed. It has the sequence of the last
// of them and keeps what the rest of the log needs of them.
type Purged struct {
	// At is when they were removed. The entry's own time and turn are those of the last
	// removed one, so that both only grow in a log.
	At time.Time
	// Entries is how many were removed, including earlier purges.
	Entries int64
	// From is the compaction whose summary replaces them in requests. What was sent before
	// it is no longer known, so the log cannot be forked at an earlier entry, nor rewound to
	// one.
	From Seq
	// Setup is the last of the removed ones; nil if none was removed.
	Setup *Setup
	// Totals are the counts of the removed entries.
	Totals Totals
	Reason string
	// Jobs are the running jobs and the last ended ones.
	Jobs []Job
}

// Totals are the counts of a log's entries.
type Totals struct {
	Turns, Compactions int64
	// Prunes counts decisions, PrunedResults the results that they named, PrunedTokens the
	// tokens that they saved the next request, as estimated then.
	Prunes, PrunedResults, PrunedTokens int64
	// Requests and Tools have no two elements that differ only in their counts.
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

// RequestTotal counts the model requests with the same values of these fields.
type RequestTotal struct {
	// Model, Asked, Endpoint, Purpose and Measured are those of RequestUsage.
	Model, Asked, Endpoint, Purpose string
	Measured                        bool
	// Above is their InputAbove.
	Above int64
	Terms Terms
	Usage Usage
	Cache CacheTotal
	// Spared is what the requests did not carry.
	Spared Spared
}

// Spared is how many tokens requests did not carry, as estimates: of results that were pruned before, and of outputs
// that were cut, each output at most the model's window.
type Spared struct{ Pruned, Cut int64 }

// Add is the sum.
func (s Spared) Add(o Spared) Spared { return Spared{Sum(s.Pruned, o.Pruned), Sum(s.Cut, o.Cut)} }

// MinPromise is the promise, in tokens, from which on a request that reads nothing from the
// endpoint's prompt cache is a miss.
const MinPromise = 2048

// CacheTotal says what prompt caches gave.
type CacheTotal struct {
	// Promised is how much of the input had been part of the request before, in tokens; Read
	// is how much of that the endpoint read from its cache.
	Promised, Read int64
	// These count the misses by what came before: no request for longer than the cache lasts,
	// another setup, a prune or a compaction, or nothing of that.
	Idle, Setup, Prune, Other int64
}

// Add is the sum.
func (t CacheTotal) Add(o CacheTotal) CacheTotal {
	return CacheTotal{
		Promised: Sum(t.Promised, o.Promised), Read: Sum(t.Read, o.Read),
		Idle: t.Idle + o.Idle, Setup: t.Setup + o.Setup, Prune: t.Prune + o.Prune, Other: t.Other + o.Other,
	}
}

// Request is the sum of the requests as if it were one.
func (t RequestTotal) Request() RequestUsage {
	return RequestUsage{Usage: t.Usage, Measured: t.Measured, Model: t.Model, Asked: t.Asked, Endpoint: t.Endpoint, Purpose: t.Purpose, Above: t.Above, Terms: t.Terms}
}

// ToolTotal counts the results of one tool.
type ToolTotal struct {
	Tool          string
	Calls, Errors int64
	// Cuts counts outputs that were cut; CutTotal and CutKept are their bytes, whole and as
	// kept.
	Cuts, CutTotal, CutKept int64
	// Interrupted counts calls that podd's end interrupted, Unknown those of them whose outcome it does not know.
	Interrupted, Unknown int64
}

// Note is a system note of a client.
type Note struct {
	Text string
	// Wake starts a turn when the pod is idle.
	Wake bool
	// Job is the job whose end the note reports; empty for a client's note.
	Job string
	// NotBefore is the earliest time at which it may start a turn; the zero time is at once.
	NotBefore time.Time
	// Check is OutcomeFinished or OutcomeFailed if the note has the result of a check.
	Check Outcome
	// Origin and Ref are a wing's: what its item says of where the text is from, and what the wing calls the note. Both are
	// empty for other notes.
	Origin, Ref string
}

// Item is what joins the conversation.
func (n Note) Item() SystemMessage {
	return SystemMessage{Origin: cmp.Or(n.Origin, OriginNote), Ref: n.Ref, Text: n.Text}
}

// JobState says whether a background command runs.
type JobState string

// The states of a job.
const (
	JobRunning JobState = "running"
	JobEnded   JobState = "ended"
)

// Job records a background command of the pod: once when the result of its call says that
// it runs, and once when it has ended.
type Job struct {
	// ID names it in the pod: "1".
	ID string
	// CallID is the call that started it.
	CallID string
	State  JobState
	// Status says how it ended, such as "exit 0"; empty while it runs.
	Status string
}

// Recovered records that podd resumed an open turn.
type Recovered struct {
	Reason string
	// CallIDs are the calls that had been started and have no result yet.
	CallIDs []string
	// Waited says that the turn was doing no work when it stopped: it waited, or podd was
	// stopping, or the log could not be written. Such a recovery does not count toward the
	// bound on how often podd resumes a turn.
	Waited bool
}

// AlertRaised records an alert in the log of its pod.
type AlertRaised struct {
	Alert Alert
}

// WingEntry is an entry of a wing: a part of podd beside the core, with kinds of entries of its own. It changes neither the
// state of the pod nor a request: what the model should read of it is a Note in the same commit.
type WingEntry struct {
	// Wing is the wing, Name what it calls this kind of entry.
	Wing, Name string
	// Line is what people read, in one line; without it clients show nothing.
	Line string
	// Data is one JSON object of the wing's own.
	Data string
	// Pending says that podd has work to do for the entry: until there is one whose Done is its sequence, podd loads the
	// pod when it starts, and nothing removes the entry.
	Pending bool
	Done    Seq
}

// UnknownKind is an entry of a kind that this podd does not know: a newer one wrote it.
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
func (Job) isKind()               {}
func (Checkpoint) isKind()        {}
func (Restore) isKind()           {}
func (WingEntry) isKind()         {}
func (UnknownKind) isKind()       {}
