package item

import "time"

// State says what a pod is doing.
type State string

// The pod states.
const (
	StateIdle        State = "idle"
	StateRunning     State = "running"
	StateWaiting     State = "waiting"
	StatePaused      State = "paused"
	StateResuming    State = "resuming"
	StateInterrupted State = "interrupted"
	StateQuarantined State = "quarantined"
)

// PodSpec is what a pod was made with.
type PodSpec struct {
	// Dir is the workspace, absolute.
	Dir string
	// Model and Instructions are empty to follow the daemon's configuration.
	Model        string
	Instructions string
	// Read and Write are further roots of the file tools, absolute.
	Read, Write []string
	// Ask is never, risky, always, or empty to follow the configuration.
	Ask string
	// Limits bound its turns.
	Limits PodLimits
	// Rules are the pod's own, beside the operator's.
	Rules []Rule
	// SubPods is how many pods its spawn_pod tool may have at once; 0 means that there
	// is no such tool.
	SubPods int
	// Tools are those that it may use; empty means all.
	Tools []string
	// Parent is the id of the pod that spawned it, ParentCall the call that did.
	Parent, ParentCall string
}

// Writable are the directories in which its tools may write.
func (s PodSpec) Writable() []string { return append([]string{s.Dir}, s.Write...) }

// Readable are the directories that its tools may read.
func (s PodSpec) Readable() []string { return append(s.Writable(), s.Read...) }

// PodLimits bound a pod's turns. A zero field follows the configuration.
type PodLimits struct {
	MaxSteps, MaxToolCalls, MaxParallel int
	// MaxTurnTime is how long a turn may work.
	MaxTurnTime time.Duration
	// MaxTokens and MaxCost (USD) bound one turn.
	MaxTokens int64
	MaxCost   float64
	// TotalTokens and TotalCost bound all turns of the pod together.
	TotalTokens int64
	TotalCost   float64
}

// Rule decides on the tool calls that match all of its parts. At least one part must
// be set.
type Rule struct {
	// Tool is a tool's name, in which * stands for any text; empty means any tool.
	Tool string
	// Path is a glob over the paths of a call; empty means any. * and ? stay within
	// one name, ** crosses directories, a slash at the end means the directory and all
	// below it.
	Path string
	// Command is a pattern over the words of commands; empty means any. * is one word
	// or part of one, as the last word any number of words, ** any number anywhere.
	Command string
	// Host is a host that a call sends a request to, such as "go.dev", "*.go.dev" or
	// "localhost:8080"; empty means any. * is any text. Without a port a rule that allows
	// means the ports 80 and 443.
	Host string
	// Decision is allow, ask or deny.
	Decision string
	// Source says where the rule comes from, for errors and verdicts: "config.toml:12",
	// "the pod's rule 2". A pod's record does not keep it.
	Source string
}

// Pod is a pod's record: what a list shows without reading its log.
type Pod struct {
	ID        string
	Name      string
	Spec      PodSpec
	CreatedAt time.Time
	Status    PodStatus
	// First and Last are the ends of its log; 0 for an empty one.
	First, Last Seq
	// Queued counts the submits that wait.
	Queued int
}

// PodStatus is the part of a pod's record that its turns change.
type PodStatus struct {
	State State
	// Reason is one sentence; empty for idle and running.
	Reason string
	// Turn counts the turns, the running one included.
	Turn int64
	// Usage is all that the pod's requests were billed.
	Usage Usage
	// LastActivity is the time of the last entry, or of creation.
	LastActivity time.Time
	// Pause is set while the pod is held, from the request on.
	Pause *Pause
	// WaitUntil is set while a turn waits until a time.
	WaitUntil time.Time
}

// Pause is what holds a pod.
type Pause struct {
	// Reason says who holds it and why, in one sentence.
	Reason string
	// At is the edge and step at which an interceptor held the turn Turn, so that it is
	// not asked there again; empty when a person did.
	At   string
	Turn int64
}
