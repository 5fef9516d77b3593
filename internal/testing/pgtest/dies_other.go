//go:build !linux

package pgtest

import "syscall"

// withUs does nothing here: a test that is killed leaves its server behind.
func withUs(*syscall.SysProcAttr) {}
