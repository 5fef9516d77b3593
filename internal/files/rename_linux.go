package files

import (
	"errors"

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

// born is when a file was made, in nanoseconds; 0 if that is not known. No file that gets its inode
// later has the same time.
func born(dir int, name string) int64 {
	var st unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
