package shim

import (
	"os"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/pkg/tool/record"
)

// Command is a command to start.
type Command struct {
	// Args is the command line; its first word is a path with a slash.
	Args []string
	// Env is the whole environment, except for the mark of the command's tree.
	Env []string
	// Dir is its working directory.
	Dir string
	// Output receives its standard output and error. Its standard input is empty.
	Output *os.File
	// Files are its descriptors from 3 on.
	Files []*os.File
	// Record receives its process and its status. Start owns and closes it.
	Record *record.Record
	// Limits bound the command and everything that it starts.
	Limits process.Limits
	// Keeper, if any, starts it instead of the shim for its limits.
	Keeper Keeper
	// Terminal gives it a terminal, which Client.Write types into. It needs a Keeper.
	Terminal bool
	// Lease, if any, must last: the shim does not start the command after it, and kills it and
	// everything that it started when the lease ends.
	Lease *lease.Lease
	// Leave, if any, is the cause of the end of Start's context after which the command may still begin and run on.
	Leave error
}

// StatusOver is the status of a command that the end of its lease ended.
const StatusOver = "lease"

// Note is what a shim writes to a command's record.
type Note struct {
	// Begins is written before the command starts.
	Begins bool `json:"begins,omitempty"`
	// Failed is written when the command could not start.
	Failed bool `json:"failed,omitempty"`
	// Process is written once the command has started.
	Process *process.ID `json:"process,omitempty"`
	// Typed is written at the end of a command that had a terminal: how many bytes that took of each of the
	// last inputs with keys. It is nil before, if the shim was killed, and from one of an older podd.
	Typed map[string]int `json:"typed,omitzero"`
}

// Running is a started command. Its tree must be stopped.
type Running struct {
	*process.Tree
	// status is set once the tree's leader has exited.
	status string
}

// Status is how the command ended, the way a shell reports it: its exit status, or 128
// plus the number of the signal that ended it, or StatusOver. It is empty while the command runs, and
// when the status is unknown.
func (r *Running) Status() string {
	select {
	case <-r.Exited():
		return r.status
	default:
		return ""
	}
}
