package checkpoint

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap exchanges two files of a directory at once.
func swap(dir int, a, b string) error {
	return known(unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE))
}

// moveTo renames a file to a name that nothing has.
func moveTo(dir int, from, to string) error {
	return known(unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE))
}

func known(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return ErrNoExchange
	}
	return err
}

// syncData syncs the bytes of a file whose size is on disk already.
func syncData(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
