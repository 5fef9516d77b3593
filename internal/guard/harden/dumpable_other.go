//go:build !linux

package harden

// notDumpable is for Linux: macOS refuses to debug a program that is signed against
// it, and has no /proc.
func notDumpable() error { return nil }
