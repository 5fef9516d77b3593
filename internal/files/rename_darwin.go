package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swap exchanges two files of a directory at once.
func swap(dir int, a, b string) error {
	return known(unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP))
}

// moveTo renames a file to a name that nothing has.
func moveTo(dir int, from, to string) error {
	return known(unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL))
}

func known(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return ErrNoExchange
	}
	return err
}

// born is when a file was made, in nanoseconds; 0 if that is not known. No file that gets its inode
// later has the same time.
func born(dir int, name string) int64 {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return st.Btim.Nano()
}
