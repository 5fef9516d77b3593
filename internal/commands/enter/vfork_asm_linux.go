//go:build linux && (amd64 || arm64)

package enter

import "syscall"

// vfork makes a process that uses this one's memory and stack, and waits until it executes a program
// or ends. Go code cannot do that: its return address would be on the stack that the child uses.
//
//go:noescape
func vfork() (pid uintptr, errno syscall.Errno)
