//go:build !linux

package harden

// notDumpable does nothing here: macOS refuses to debug a signed program, and has no
// /proc.
func notDumpable() error { return nil }
