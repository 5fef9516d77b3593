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
	// Text is one sentence.
	Text string
	Time time.Time
	// Count is how often it was raised; at least 1 once stored.
	Count int64
	Acked bool
}
