package triggers

import (
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"podd/internal/files"
)

// watcher tells who watches a directory what happens in it (inotify(7)). A wait for events costs nothing.
type watcher struct {
	queue *os.File
	fd    int
	mu    sync.Mutex
	ended bool
	// dirs are the watched directories, by the numbers that the system gave them.
	dirs map[int32]*watched
}

// watched is a directory, by the path that its followers know, which are those by their triggers.
type watched struct {
	path string
	by   map[string]func(path string, dir bool)
}

// interest are the events by which the content of files, or which files there are, may differ.
const interest = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MOVE_SELF | unix.IN_DELETE_SELF | unix.IN_ONLYDIR

func newWatcher() (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &watcher{queue: os.NewFile(uintptr(fd), "inotify"), fd: fd, dirs: make(map[int32]*watched)}, nil
}

func (w *watcher) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	return w.queue.Close()
}

// follow has a trigger told of what happens in these directories, and in no others: of each path, and whether it is a
// directory; of none if that is not known. fresh says that it did not watch one of them before. It fails where a directory
// cannot be watched, or would not show all changes.
func (w *watcher) follow(trigger string, dirs []string, tell func(path string, dir bool)) (fresh bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return false, os.ErrClosed
	}
	now := make(map[int32]bool)
	for _, dir := range dirs {
		var fs unix.Statfs_t
		if err = unix.Statfs(dir, &fs); err == nil && files.Remote(uint32(fs.Type)) { //nolint:gosec // Kinds have 32 bits.
			err = errors.ErrUnsupported
		}
		n := 0
		if err == nil {
			n, err = unix.InotifyAddWatch(w.fd, dir, interest)
		}
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			fresh, err = true, nil // It went meanwhile: look again.
			continue
		}
		if err != nil {
			break
		}
		wd := int32(n) //nolint:gosec // The system counts with 32 bits.
		d := w.dirs[wd]
		if d == nil {
			d = &watched{by: make(map[string]func(string, bool))}
			w.dirs[wd] = d
		}
		if d.by[trigger] == nil {
			fresh = true
		}
		d.path, d.by[trigger], now[wd] = dir, tell, true
	}
	if err != nil {
		clear(now)
	}
	w.drop(func(key string, wd int32) bool { return key == trigger && !now[wd] })
	return fresh && err == nil, err
}

// unfollow removes the triggers whose names begin so.
func (w *watcher) unfollow(prefix string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.drop(func(key string, _ int32) bool { return strings.HasPrefix(key, prefix) })
	}
}

// drop removes followers, and ends the watch of a directory without any.
func (w *watcher) drop(which func(trigger string, wd int32) bool) {
	for wd, d := range w.dirs {
		maps.DeleteFunc(d.by, func(key string, _ func(string, bool)) bool { return which(key, wd) })
		if len(d.by) == 0 {
			delete(w.dirs, wd)
			_, _ = unix.InotifyRmWatch(w.fd, uint32(wd)) //nolint:gosec // It is not negative.
		}
	}
}

// run tells what happens until the watcher is closed.
func (w *watcher) run() {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.queue.Read(buf)
		if err != nil {
			return
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:]) //nolint:gosec // It has a sign.
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			w.happened(wd, mask, strings.TrimRight(string(rest[unix.SizeofInotifyEvent:end]), "\x00"))
			rest = rest[end:]
		}
	}
}

// happened tells of an event. Without a name it is about the directory itself, or about all of them: too many events were
// waiting.
func (w *watcher) happened(wd int32, mask uint32, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mask&unix.IN_Q_OVERFLOW != 0 {
		for _, d := range w.dirs {
			d.tell("", false)
		}
		return
	}
	d := w.dirs[wd]
	if d == nil {
		return
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(w.dirs, wd)
	}
	if name == "" {
		d.tell("", false)
		return
	}
	d.tell(filepath.Join(d.path, name), mask&unix.IN_ISDIR != 0)
}

func (d *watched) tell(path string, dir bool) {
	for _, tell := range d.by {
		tell(path, dir)
	}
}
