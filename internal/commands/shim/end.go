package shim

import (
	"os"
	"strconv"
	"syscall"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/pkg/tool/record"
)

// end waits for the end of a child's leader, and kills the child when its lease, if any, ends
// before. It records the end and releases the record.
func end(tree *process.Tree, t *terminal, r *record.Record, w *lease.Watch) (status string) {
	over := w != nil && w.Wait(tree.Exited())
	if over {
		tree.Kill()
	}
	<-tree.Exited()
	if t != nil {
		t.rest()
		// Without it the next podd does not know.
		_ = r.Note(Note{Typed: t.end()})
	}
	if status = statusOf(tree.State()); over {
		status = StatusOver
	}
	// The record has room for it. If writing fails anyway, podd still gets the status, and
	// the next podd reports it as unknown.
	_ = r.SetStatus(status)
	r.Close()
	return status
}

// statusOf is an end in the form of a shell's $?.
func statusOf(state *os.ProcessState) string {
	if state == nil {
		return ""
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return strconv.Itoa(128 + int(status.Signal()))
	}
	return strconv.Itoa(state.ExitCode())
}
