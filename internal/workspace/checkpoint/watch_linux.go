package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// events are those of inotify (inotify(7)).
type events struct {
	fd int
	// dirs are the watched directories by their descriptors.
	dirs map[int32]string
	buf  []byte
}

// interest are the events of a directory that say that a look would find something else.
const interest = unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MOVE_SELF | unix.IN_DELETE_SELF | unix.IN_ONLYDIR

func newEvents() (events, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	return events{fd: fd, dirs: make(map[int32]string), buf: make([]byte, 64<<10)}, err
}

func (e events) close() error { return unix.Close(e.fd) }

// add watches a directory by its open file: no other one can take its place meanwhile.
func (e events) add(dir string, fd int) error {
	wd, err := unix.InotifyAddWatch(e.fd, fmt.Sprintf("/proc/self/fd/%d", fd), interest)
	if err != nil {
		return err
	}
	e.dirs[int32(wd)] = dir
	return nil
}

// errLost says that events were lost, or that one is about everything.
var errLost = errors.New("events of the directory were lost")

// take passes all events to f, which returns false for one that is about everything.
func (e events) take(f func(change) bool) error {
	var lost error
	for {
		n, err := unix.Read(e.fd, e.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return lost
		case err != nil:
			return fmt.Errorf("%w: %w", errLost, err)
		}
		for data := e.buf[:n]; len(data) >= unix.SizeofInotifyEvent; {
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(data[12:]))
			if !e.one(data[:size], f) {
				lost = errLost
			}
			data = data[size:]
		}
	}
}

// one passes one event.
func (e events) one(data []byte, f func(change) bool) bool {
	wd, mask := int32(binary.NativeEndian.Uint32(data)), binary.NativeEndian.Uint32(data[4:])
	if mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0 {
		return false
	}
	dir, ok := e.dirs[wd]
	if !ok {
		return true
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(e.dirs, wd)
		return true
	}
	if dir == "" && mask&(unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0 {
		return false
	}
	name, _, _ := bytes.Cut(data[unix.SizeofInotifyEvent:], []byte{0})
	return f(change{
		dir: dir, name: string(name), isDir: mask&unix.IN_ISDIR != 0,
		moved: mask&(unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0,
	})
}
