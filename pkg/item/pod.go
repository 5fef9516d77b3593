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
}
