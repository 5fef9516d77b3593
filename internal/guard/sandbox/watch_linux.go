package sandbox

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxWatches bounds the directories that a guard watches.
	maxWatches = 1024
	// maxGitWatches bounds the git directories that are watched, with those of their hooks.
	maxGitWatches = 256
	// blindPoll is how often the tops are checked if nothing can be watched.
	blindPoll = 50 * time.Millisecond
	// comparePoll is how often what is put back is compared without an event; a look takes at most a hundredth of
	// the time.
	comparePoll = time.Second
)

// watcher reports what appears in directories, by inotify. The guard's lock guards its
// places.
type watcher struct {
	// inotify has no file if it is unavailable.
	inotify
	spare *spare
	at    map[int]place
	// git are the watched git directories, by watch; next is when to compare without an event.
	git  map[int]string
	next time.Time
	// blind says that not everything that appears is reported.
	blind atomic.Bool
	quit  chan struct{}
	once  sync.Once
}

// spare are instances of inotify that no guard uses. Closing one takes the kernel
// milliseconds.
type spare struct {
	mu    sync.Mutex
	files []inotify
}

// inotify is an instance: its descriptor, and the file that reads from it.
type inotify struct {
	fd   int
	file *os.File
}

// maxSpare is how many are kept.
const maxSpare = 8

func (s *spare) get() (inotify, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.files); n > 0 {
		i := s.files[n-1]
		s.files = s.files[:n-1]
		return i, i.file.SetReadDeadline(time.Time{})
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return inotify{}, err
	}
	return inotify{fd, os.NewFile(uintptr(fd), "inotify")}, nil
}

// put returns an instance without watches.
func (s *spare) put(i inotify) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) >= maxSpare {
		_ = i.file.Close()
		return
	}
	s.files = append(s.files, i)
}

func newWatcher(spare *spare) *watcher {
	w := blindWatcher()
	w.spare = spare
	if i, err := spare.get(); err == nil {
		w.inotify = i
		w.blind.Store(false)
	}
	return w
}

// blindWatcher reports nothing, and costs nothing.
func blindWatcher() *watcher {
	w := &watcher{at: map[int]place{}, git: map[int]string{}, quit: make(chan struct{})}
	w.blind.Store(true)
	return w
}

// descriptorPath is a path to an open file.
func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// add watches an open directory at a place. One that is already watched has moved there.
func (w *watcher) add(p place, dir *os.File) {
	if w.file == nil || !p.fixed && w.full() {
		return
	}
	wd, err := unix.InotifyAddWatch(w.fd, descriptorPath(int(dir.Fd())), unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR|unix.IN_MASK_ADD)
	if err != nil {
		w.blind.Store(true)
		return
	}
	// A root in another one is known as itself.
	if old, known := w.at[wd]; !known || p.fixed || old.root == p.root {
		w.at[wd] = p
	}
}

// addGit watches an open git directory, and the hooks in it.
func (w *watcher) addGit(path string, dir *os.File) {
	if w.file == nil || len(w.git) >= maxGitWatches {
		return
	}
	for _, name := range []string{"", "/hooks"} {
		const mask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_ONLYDIR | unix.IN_MASK_ADD
		if wd, err := unix.InotifyAddWatch(w.fd, descriptorPath(int(dir.Fd()))+name, mask); err == nil {
			w.git[wd] = path
		}
	}
}

// full says that only directories at fixed paths are watched from now on.
func (w *watcher) full() bool { return len(w.at) >= maxWatches }

// run reports to the guard what appears until stop.
func (w *watcher) run(g *Guard) {
	w.next = time.Now().Add(comparePoll)
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.wait(buffer)
		if err != nil {
			return
		}
		g.pass(func() {
			if n == 0 && w.blind.Load() {
				g.examineAll(found)
			}
			w.dispatch(g, buffer[:n])
			if began := time.Now(); !began.Before(w.next) {
				g.compareAll(false)
				w.next = time.Now().Add(max(comparePoll, 100*time.Since(began)))
			}
		})
	}
}

// wait returns the next events, or none when it is time to check. It fails after stop.
func (w *watcher) wait(buffer []byte) (n int, err error) {
	if w.file == nil {
		select {
		case <-w.quit:
			return 0, os.ErrClosed
		case <-time.After(blindPoll):
			return 0, nil
		}
	}
	late := w.next
	if w.blind.Load() {
		late = time.Now().Add(blindPoll)
	}
	_ = w.file.SetReadDeadline(late)
	if w.stopped() {
		return 0, os.ErrClosed
	}
	n, err = w.file.Read(buffer)
	if errors.Is(err, os.ErrDeadlineExceeded) && !w.stopped() {
		return 0, nil
	}
	return n, err
}

// drain handles what was not read until stop; without a guard it drops it.
func (w *watcher) drain(g *Guard) {
	if w.file == nil {
		return
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buffer)
		if err != nil || n <= 0 {
			return
		}
		if g != nil {
			w.dispatch(g, buffer[:n])
		}
	}
}

// dispatch passes events to the guard, each of which is a head of unix.SizeofInotifyEvent
// bytes and a name padded with NULs.
func (w *watcher) dispatch(g *Guard, events []byte) {
	changed := map[string]bool{}
	for len(events) >= unix.SizeofInotifyEvent {
		wd := int(int32(binary.NativeEndian.Uint32(events)))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name, _, _ := strings.Cut(string(events[unix.SizeofInotifyEvent:end]), "\x00")
		events = events[end:]
		p, known := w.at[wd]
		if path, isGit := w.git[wd]; isGit && obeyed(name) && !w.stopped() {
			changed[path] = true
		}
		switch {
		case mask&unix.IN_Q_OVERFLOW != 0:
			g.examineAll(found)
			g.examineNested()
		case mask&unix.IN_IGNORED != 0:
			delete(w.at, wd)
			delete(w.git, wd)
		case known:
			g.appeared(p, name, mask&unix.IN_ISDIR != 0)
		}
	}
	for path := range changed {
		g.compareGit(path, false, false)
	}
}

// obeyed says whether a name in a git directory or in its hooks may be one that git obeys: not what it makes and
// removes all the time.
func obeyed(name string) bool {
	return !strings.HasSuffix(name, ".lock") && name != "index" && name != "HEAD" && name != "COMMIT_EDITMSG" && name != "ORIG_HEAD"
}

func (w *watcher) stopped() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// stop ends run. Later events are kept for drain.
func (w *watcher) stop() {
	w.once.Do(func() {
		close(w.quit)
		if w.file != nil {
			_ = w.file.SetReadDeadline(time.Unix(1, 0))
		}
	})
}

func (w *watcher) close() {
	if w.file == nil {
		return
	}
	for wd := range w.at {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
	}
	for wd := range w.git {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
	}
	// Numbers of watches are not reused: later events with these belong to no watch.
	w.drain(nil)
	w.spare.put(w.inotify)
	w.file = nil
}
