package harden

import (
	"errors"
	"syscall"
)

// Process closes this process to others. It does not affect programs that this process
// starts, except that they write no core files until they raise their own limit, which
// they may. Call it once, before anything secret is read.
func Process() error {
	return errors.Join(noCore(), notDumpable())
}

// noCore lowers the limit on core files to 0. The hard limit stays, for children.
func noCore() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil {
		return err
	}
	limit.Cur = 0
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
}
