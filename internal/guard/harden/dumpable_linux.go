package harden

import "golang.org/x/sys/unix"

// notDumpable gives /proc/PID/mem, environ and the like to root, and refuses ptrace to
// programs of the same user (prctl(2), PR_SET_DUMPABLE). It ends with exec, so it does
// not affect children.
func notDumpable() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
