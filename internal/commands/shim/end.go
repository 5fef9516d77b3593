package shim

import (
	"os"
	"strconv"
	"syscall"

	"podd/internal/commands/process"
	"podd/pkg/tool/spool"
)

// end waits for the end of a child's leader, writes it down and lets the record go.
func end(tree *process.Tree, record *spool.Record) (status string) {
	<-tree.Exited()
	status = statusOf(tree.State())
	// The record has room for it; where it cannot be written all the same, podd still
	// hears of it, and the next one says that it is not known.
	_ = record.SetStatus(status)
	record.Close()
	return status
}

// statusOf is an end as a shell's $? has it.
func statusOf(state *os.ProcessState) string {
	if state == nil {
		return ""
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return strconv.Itoa(128 + int(status.Signal()))
	}
	return strconv.Itoa(state.ExitCode())
}
