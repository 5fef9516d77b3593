package scopefs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameAt renames in directories by their descriptors; an existing name is an error, if
// the file system can tell.
func renameAt(from int, old string, to int, name string) error {
	err := unix.Renameat2(from, old, to, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return unix.Renameat(from, old, to, name)
	}
	return err
}

// exchangeAt exchanges two files of a directory at once.
func exchangeAt(dir int, a, b string) error {
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}
