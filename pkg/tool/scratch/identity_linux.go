package scratch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// identity is the name of the cache of the workspace with this path: a directory, by a
// descriptor or by its name in it. The time of its birth is part of it: a file system gives the
// inode of a removed directory to the next one.
func identity(at int, name, path string) (string, error) {
	var st unix.Statx_t
	if err := unix.Statx(at, name, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return "", &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%d %d %d.%d %s", st.Dev_major, st.Dev_minor, st.Ino, st.Btime.Sec, st.Btime.Nsec, path))
	return hex.EncodeToString(sum[:])[:nameLen], nil
}
