//go:build !linux

package scopefs

import "golang.org/x/sys/unix"

// renameAt renames in directories by their descriptors.
func renameAt(from int, old string, to int, name string) error {
	return unix.Renameat(from, old, to, name)
}

// exchangeAt cannot exchange two files of a directory at once.
func exchangeAt(int, string, string) error { return unix.ENOSYS }
