package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

// UnderShell says whether a shell with job control started this process. Only such a shell takes the
// terminal when the process stops, and lets it go on: the kernel ignores the signal that stops the
// processes of a terminal for those without one.
func UnderShell() bool {
	own, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parent := os.Getppid()
	session, err := unix.Getsid(parent)
	if err != nil || session != own {
		return false
	}
	group, err := unix.Getpgid(parent)
	return err == nil && group != unix.Getpgrp()
}
