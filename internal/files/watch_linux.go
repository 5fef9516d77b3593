package files

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// watch says whether something happened in the directories that a look read (inotify(7)): a step that changes nothing
// costs no look. The system queues an event before the call that makes the change returns, so what a command did is
// known once it has ended. A change through another name of a file, by a hard link from outside, has no event; the
// first look of a turn reads everything.
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
// possible.
func (w *watch) add(fd int) bool {
	if w == nil {
		return false
	}
	_, err := unix.InotifyAddWatch(w.fd, fmt.Sprintf("/proc/self/fd/%d", fd), interest)
	return err == nil
}

// quiet takes all events, and says that there was none.
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
