package files

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// watch says whether something happened in the directories that a look read (inotify(7)): a step that changes nothing
// costs no look. The system queues an event before the call that makes the change returns, so what a command did is
// known once it has ended. That holds where this machine's kernel makes all changes: a remote file system has no event
// for those of others, and is not watched. A change through another name of a file, by a hard link from outside, has no
// event either; the first look of a turn reads everything.
//
// A nil watch knows nothing.
type watch struct {
	fd  int
	buf [16 << 10]byte
}

// interest are the events of a directory that say that a look would find something else.
const interest = unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MOVE_SELF | unix.IN_DELETE_SELF | unix.IN_ONLYDIR

// newWatch is nil where directories cannot be watched.
func newWatch() *watch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &watch{fd: fd}
}

func (w *watch) close() error {
	if w == nil {
		return nil
	}
	return unix.Close(w.fd)
}

// add watches a directory by its open file: no other one can take its place meanwhile. It is false if that is not
// possible, or would not show all changes.
func (w *watch) add(fd int) bool {
	if w == nil {
		return false
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil || Remote(uint32(fs.Type)) { //nolint:gosec // Kinds have 32 bits.
		return false
	}
	_, err := unix.InotifyAddWatch(w.fd, fmt.Sprintf("/proc/self/fd/%d", fd), interest)
	return err == nil
}

// Kinds of file systems that x/sys does not name.
const (
	lustre = 0x0bd00bd0
	gpfs   = 0x47504653
)

// Remote says that others than this machine's kernel may change the files of such a file system: statfs(2) has its kind.
func Remote(kind uint32) bool {
	switch kind {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC,
		unix.FUSE_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC,
		unix.OCFS2_SUPER_MAGIC, lustre, gpfs:
		return true
	}
	return false
}

// quiet reads all events that wait, and reports whether there were none.
func (w *watch) quiet() bool {
	if w == nil {
		return false
	}
	for quiet := true; ; quiet = false {
		_, err := unix.Read(w.fd, w.buf[:])
		switch {
		case errors.Is(err, unix.EAGAIN):
			return quiet
		case err != nil && !errors.Is(err, unix.EINTR):
			return false
		}
	}
}
