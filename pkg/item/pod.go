package item

import (
	"slices"
	"time"
)

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

// PodSpec is a pod's settings.
type PodSpec struct {
	// Dir is the workspace, absolute.
	Dir string
	// Model and Instructions are empty to follow the daemon's configuration. Model may be
	// ENDPOINT/MODEL; then podd sets Endpoint, so that the model keeps its endpoint whatever
	// the configuration says later.
	Model, Endpoint string
	Instructions    string
	// Options shape the answers; a zero field follows the configuration.
	Options Options
	// BaseInstructions are builtin, none, the absolute path of a file, or empty to follow the
	// configuration.
	BaseInstructions string
	// Plan says that turns only plan when their submit does not say.
	Plan bool
	// Read and Write are further roots of the file tools, absolute.
	Read, Write []string
	// Ask is never, risky, always, or empty to follow the configuration.
	Ask string
	// Network says whether its commands reach the network unasked: NetworkOn, NetworkOff, or
	// empty to follow the configuration. A spawned pod never has more than its parent.
	Network string
	// Limits bound its turns.
	Limits PodLimits
	// Rules are the pod's own, in addition to the operator's.
	Rules []Rule
	// SubPods is how many pods its spawn_pod tool may have at once; with 0 it has no such
	// tool.
	SubPods int
	// Tools are the names of those that it may use; empty means all.
	Tools []string
	// Parent is the id of the pod that spawned it, ParentCall the call that waits for it; empty for one in the background.
	Parent, ParentCall string
	// Checkout is what podd made for it; zero for a pod in a directory of a person's.
	Checkout Checkout
}

// Checkout is a checkout of a person's repository that podd made for a pod.
type Checkout struct {
	// Source is the person's working tree, Branch the branch of the checkout, Base the commit
	// that it began with.
	Source, Branch, Base string
}

// What a spec says of the network.
const (
	NetworkOn  = "on"
	NetworkOff = "off"
)

// Writable are the directories in which its tools may write.
func (s PodSpec) Writable() []string { return append([]string{s.Dir}, s.Write...) }

// Readable are the directories that its tools may read.
func (s PodSpec) Readable() []string { return append(s.Writable(), s.Read...) }

// ReachesNetwork says whether the pod's commands reach the network unasked: when its spec
// and those of the pods above it say so, or the configuration where they say nothing.
func (s PodSpec) ReachesNetwork(above []Pod, configured bool) bool {
	off := func(s PodSpec) bool { return s.Network != NetworkOn && (s.Network == NetworkOff || !configured) }
	return !off(s) && !slices.ContainsFunc(above, func(p Pod) bool { return off(p.Spec) })
}

// PodLimits bound a pod's turns. A zero field follows the configuration.
type PodLimits struct {
	MaxSteps, MaxToolCalls, MaxParallel int
	// MaxTurnTime bounds how long a turn works.
	MaxTurnTime time.Duration
	// MaxTokens and MaxCost (USD) bound one turn.
	MaxTokens int64
	MaxCost   float64
	// TotalTokens and TotalCost bound all turns of the pod together.
	TotalTokens int64
	TotalCost   float64
}

// Rule decides on the tool calls that match all of its parts. At least one part must be
// set.
type Rule struct {
	// Tool is a tool's name, in which * matches any text; empty matches any tool.
	Tool string
	// Path is a glob for the paths of a call; empty matches any. * and ? match within one
	// name, ** crosses directories, a trailing slash matches the directory and everything
	// below it.
	Path string
	// Command is a pattern for the words of commands; empty matches any. * matches one word
	// or part of one, as the last word any number of words; ** matches any number anywhere.
	Command string
	// Host is a host that a call sends a request to, such as "go.dev", "*.go.dev" or
	// "localhost:8080"; empty matches any. * matches any text. Without a port a rule that
	// allows means the ports 80 and 443.
	Host string
	// Access are levels of access that a call asks for. None means AccessSandbox in a rule
	// that allows, else any.
	Access []Access
	// Decision is allow, ask or deny.
	Decision string
	// Added is when a pod got the rule; zero for other rules.
	Added time.Time
	// Source says where the rule is from, for errors and verdicts: "config.toml:12", "the
	// pod's rule 2". A pod's record does not keep it.
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
	// Queued counts the waiting submits.
	Queued int
	// Node is the name of the podd that runs it; empty if one podd has all pods.
	Node string
	// Movable says that its files are in a shared directory, so that another node takes it over.
	Movable bool
}

// PodStatus is the part of a pod's record that its turns change.
type PodStatus struct {
	State State
	// Reason is one sentence; empty for running. For idle it says how the last turn ended,
	// unless that finished or a person cancelled it, or that a check failed.
	Reason string
	// Turn counts the turns, including the running one.
	Turn int64
	// Usage is what all requests of the pod were billed.
	Usage Usage
	// LastActivity is the time of the last entry, or of creation.
	LastActivity time.Time
	// Pause is set while the pod is paused, from the request on.
	Pause *Pause
	// WaitUntil is set while a turn waits for a time.
	WaitUntil time.Time
	// Lifted are the pauses until a time that a person ended earlier in the open turn:
	// interceptors do not repeat them in it.
	Lifted []Pause
	// Jobs counts the running background commands, Pending the entries of wings for which podd has work to do.
	Jobs, Pending int
	// Letters counts those that no turn has taken.
	Letters int
	// Approvals counts the calls that wait for a person, Questions those of them that ask for an answer.
	Approvals, Questions int
	// LastOutcome is how the last turn ended; empty while one runs and before the first.
	LastOutcome Outcome
	// CheckFailed says that the last check of the pod's checkout failed, and that no turn has taken its
	// result yet.
	CheckFailed bool
}

// Stopped says whether the last turn ended in a way that a person should look at: it failed, or
// a limit ended it.
func (s *PodStatus) Stopped() bool {
	return s.State == StateIdle && (s.LastOutcome == OutcomeFailed || s.LastOutcome == OutcomeLimit)
}

// Pause says why a pod is paused.
type Pause struct {
	// Reason says who paused it and why, in one sentence.
	Reason string
	// At is the edge and step at which an interceptor paused the turn Turn, so that the
	// interceptor is not asked there again; empty when a person paused the pod.
	At   string
	Turn int64
	// Until is when the pause ends by itself; then the interceptor By is asked again. Zero
	// when only a person ends it.
	Until time.Time
	By    string
}

// PausedByStart is By of a pause that podd makes when it starts, of a turn that lay still for long.
const PausedByStart = "start"

// ByItself says whether there is a pause, and it ends without a person.
func (p *Pause) ByItself() bool { return p != nil && !p.Until.IsZero() }

// FromStart says whether there is a pause, and podd made it when it started.
func (p *Pause) FromStart() bool { return p != nil && p.By == PausedByStart }
