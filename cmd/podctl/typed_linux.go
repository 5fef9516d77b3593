package main

import "golang.org/x/sys/unix"

// forgetTyped drops what was typed on a terminal and not read.
func forgetTyped(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
