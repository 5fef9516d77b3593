package triggers

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A trigger gets the events of its directories, one for all if the system could not keep up, and one for a directory that was
// removed and created again, so that it follows that one.
func TestWatcher(t *testing.T) {
	w, err := newWatcher()
	must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run()
	}()
	defer func() {
		must(t, w.close())
		<-ended
	}()
	dir := t.TempDir()
	heard := make(chan string, 100)
	follow := func(want bool, dirs ...string) {
		t.Helper()
		if fresh, err := w.follow("pod/a", dirs, func(path string, _ bool) { heard <- path }); err != nil || fresh != want {
			t.Errorf("fresh: %t, %v, want %t", fresh, err, want)
		}
	}
	hears := func(want string) {
		t.Helper()
		for got := range heard {
			if got == want {
				return
			}
		}
	}
	in := filepath.Join(dir, "in")
	follow(true, dir, in) // The second is not there: look again.
	put(t, filepath.Join(in, "a"), "one")
	hears(in)
	follow(true, dir, in)
	follow(false, dir, in)
	put(t, filepath.Join(in, "b"), "one")
	hears(filepath.Join(in, "b"))
	must(t, unix.Unlink(filepath.Join(in, "a")))
	must(t, unix.Unlink(filepath.Join(in, "b")))
	must(t, unix.Rmdir(in))
	hears("")
	hears(in)
	put(t, filepath.Join(in, "c"), "one")
	follow(true, dir, in)
	w.happened(-1, unix.IN_Q_OVERFLOW, "")
	hears("")
	w.unfollow("pod/")
	if len(w.dirs) > 0 {
		t.Errorf("%d directories are watched without a trigger", len(w.dirs))
	}
}
