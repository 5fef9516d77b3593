package shim

import (
	"os"

	"podd/internal/commands/process"
	"podd/pkg/tool/spool"
)

// Command is a command to be started.
type Command struct {
	// Args is the command line; its first word is a path with a slash.
	Args []string
	// Env is the whole environment, but for the mark of the command's tree.
	Env []string
	// Dir is where it starts.
	Dir string
	// Output gets its standard output and error. Its standard input is empty.
	Output *os.File
	// Files are open from descriptor 3 on.
	Files []*os.File
	// Record gets its process and its status. It belongs to Start, which closes it.
	Record *spool.Record
	// Limits bound it and what it starts.
	Limits process.Limits
}

// Note is what a shim notes in a command's record.
type Note struct {
	// Begins is noted before the command is started.
	Begins bool `json:"begins,omitempty"`
	// Failed is noted when it could not be started.
	Failed bool `json:"failed,omitempty"`
	// Process is noted once it was.
	Process *process.ID `json:"process,omitempty"`
}

// Running is a command that was started. Its tree must be stopped.
type Running struct {
	*process.Tree
	// status is there once the tree's leader has exited.
	status string
}

// Status is how the command ended, as a shell puts it: its exit status, or 128 and the
// number of the signal that ended it. It is empty while the command runs, and where
// nobody knows.
func (r *Running) Status() string {
	select {
	case <-r.Exited():
		return r.status
	default:
		return ""
	}
}
