package builtin

import (
	"fmt"
	"os"
	"syscall"
)

// exitStatus says how a process ended: "exit 1", "killed by SIGSEGV".
func exitStatus(state *os.ProcessState) string {
	if state == nil {
		return "did not end"
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("exit %d", state.ExitCode())
	}
	return fmt.Sprintf("killed by signal %d (%v)", status.Signal(), status.Signal())
}
