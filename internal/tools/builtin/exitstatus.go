package builtin

import (
	"fmt"
	"slices"
	"syscall"
)

// exitStatus is an exit status as the model reads it: "exit 1". For a command that a
// signal ended a shell gives 128 plus the number of the signal; the command may also have
// exited with such a number itself.
func exitStatus(status int) string {
	usual := []syscall.Signal{
		syscall.SIGINT, syscall.SIGILL, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGKILL,
		syscall.SIGSEGV, syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGXCPU, syscall.SIGXFSZ,
	}
	if signal := syscall.Signal(status - 128); slices.Contains(usual, signal) {
		return fmt.Sprintf("exit %d (as by signal %d, %v)", status, int(signal), signal)
	}
	return fmt.Sprintf("exit %d", status)
}
