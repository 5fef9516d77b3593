package tool

import (
	"time"

	"podd/pkg/item"
)

// JobEnd is how a background command ended.
type JobEnd struct {
	item.Job
	// Note is for the model; empty if it has read the end.
	Note string
	// Wake says that the note starts a turn if the pod is idle.
	Wake bool
}

// JobInfo is the current state of a background command.
type JobInfo struct {
	item.Job
	Command string
	// Access is what it can use: the sandbox, the network too, or everything. Like Terminal, it
	// is only known if Started is.
	Access   item.Access
	Terminal bool
	// Started is zero for a job that ended before this podd started.
	Started time.Time
	// Deadline is when podd ends it.
	Deadline time.Time
	// Bytes is the size of its output.
	Bytes int64
}

// JobOutput is a part of a job's output.
type JobOutput struct {
	// Job is the job as it was just before the output was read: if it had ended, nothing
	// comes after End.
	Job  item.Job
	Text string
	// From is where Text begins in the output and Mark where it ends, in bytes.
	From, Mark int64
	// End is the size of the whole output.
	End int64
	// Rest is how many bytes before Mark are of a line that is not whole.
	Rest int64
	// Gone says that the output is not kept any more.
	Gone bool
}
