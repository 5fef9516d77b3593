package item

import "time"

// Level says how much an alert matters.
type Level string

// The alert levels.
const (
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// The reasons of alerts that programs need to know. Other alerts have none.
const (
	// ReasonTurnEnded marks the alert that repeats a turn's terminal entry.
	ReasonTurnEnded = "TURN_ENDED"
	// ReasonApprovalWaits marks the alert that repeats an ApprovalRequested.
	ReasonApprovalWaits = "APPROVAL_WAITS"
	// ReasonFallback marks the alert before the setup of a fallback model.
	ReasonFallback = "FALLBACK"
)

// Alert is something that a person should see.
type Alert struct {
	// Seq counts over the whole store, from 1; 0 until it is stored.
	Seq Seq
	// Pod is the pod's id; empty for the daemon itself.
	Pod   string
	Level Level
	// Source is what raised it: turn, fallback, file_ref, segment, recovery, store,
	// interceptor, hook.
	Source string
	// Reason is one of the Reason constants, or empty.
	Reason string
	// Text is one sentence.
	Text string
	Time time.Time
	// Count is how often it was raised; at least 1 once stored.
	Count int64
	Acked bool
}

// Repeats says that another entry of the pod's log says the same: how a turn ended, or
// that a call waits for a person. An alert without a reason may be from before reasons
// existed; then its source and level decide.
func (a Alert) Repeats() bool {
	switch a.Reason {
	case ReasonTurnEnded, ReasonApprovalWaits:
		return true
	case "":
		return a.Source == "approval" || a.Source == "turn" && a.Level == LevelInfo
	}
	return false
}
