package checkpoint

import (
	"os"
	"path"
	"strings"

	"podd/pkg/scopefs/ignore"
)

// watch knows which directories are as the last look found them, so that the next one reads only
// the others. The system queues an event before the call that makes the change returns, so what
// a command did is known once it has ended. A change through another name of a file, by a hard
// link from outside, has no event; the first look of a turn reads everything.
//
// A nil watch knows nothing.
type watch struct {
	events events
	// root is the directory that is watched.
	root os.FileInfo
	// dirs are the directories that are watched and have been read, by path.
	dirs map[string]dirState
	// dirty are those with events since the last kept look, above the directories above them.
	dirty, above map[string]bool
	// whole says that the next look reads everything: events were lost, rules changed, or what
	// a look found was not kept.
	whole bool
}

// dirState is what a look found in a directory.
type dirState struct {
	// own counts the entries that are no directories, all also what is below.
	own, all totals
	rules    ruled
}

// totals are what a look counts.
type totals struct {
	leftOut, files int
	bytes          int64
}

func (t totals) plus(o totals) totals {
	return totals{t.leftOut + o.leftOut, t.files + o.files, t.bytes + o.bytes}
}

func (t totals) minus(o totals) totals {
	return totals{t.leftOut - o.leftOut, t.files - o.files, t.bytes - o.bytes}
}

// newWatch is nil where directories cannot be watched.
func newWatch() *watch {
	e, err := newEvents()
	if err != nil {
		return nil
	}
	return &watch{events: e, dirs: make(map[string]dirState), dirty: make(map[string]bool)}
}

func (w *watch) close() error {
	if w == nil {
		return nil
	}
	return w.events.close()
}

// begin takes the events until now. What the look that follows finds counts once keep is called.
// With whole, the look reads everything.
func (w *watch) begin(root os.FileInfo, whole bool) {
	if w == nil {
		return
	}
	lost := w.events.take(w.event) != nil
	other := w.root == nil || !os.SameFile(w.root, root)
	w.root = root
	if w.whole = w.whole || whole || lost || other; w.whole {
		clear(w.dirs)
	}
	w.above = make(map[string]bool)
	for dir := range w.dirty {
		for dir != "." && !w.above[dir] {
			w.above[dir] = true
			dir = path.Dir(dir)
		}
	}
	w.above[""] = len(w.dirty) > 0
	w.whole = true
}

// still says that nothing happened since a look that was kept.
func (w *watch) still(root os.FileInfo) bool {
	if w == nil || w.whole || w.root == nil || !os.SameFile(w.root, root) {
		return false
	}
	w.whole = w.events.take(w.event) != nil
	return !w.whole && len(w.dirty) == 0
}

// keep says that the next look begins with what this one found.
func (w *watch) keep() {
	if w == nil {
		return
	}
	w.whole = false
	clear(w.dirty)
}

// change is an event in a directory: of the directory itself without a name.
type change struct {
	dir, name string
	// isDir says that name is a directory, moved that it got or lost this name.
	isDir, moved bool
}

// event takes one; it returns false if everything has to be read.
func (w *watch) event(c change) bool {
	w.dirty[c.dir] = true
	if c.isDir && c.moved {
		w.forget(path.Join(c.dir, c.name))
	}
	// What git ignores may be anywhere below.
	return c.name != ignore.File && (c.name != ".git" || !c.moved)
}

// forget drops a directory that may not be there any more, and all below it.
func (w *watch) forget(dir string) {
	if _, ok := w.dirs[dir]; !ok {
		return
	}
	for d := range w.dirs {
		if d == dir || strings.HasPrefix(d, dir+"/") {
			delete(w.dirs, d)
		}
	}
}

// of is what is known of a directory whose own entries did not change.
func (w *watch) of(dir string) (k dirState, ok bool) {
	if w == nil || w.dirty[dir] {
		return k, false
	}
	k, ok = w.dirs[dir]
	return k, ok
}

// changed says whether something in a directory or below it changed.
func (w *watch) changed(dir string) bool { return w.above[dir] }

// add begins to watch a directory, given by its open file; false if that is not possible.
func (w *watch) add(dir string, fd int) bool {
	if w == nil || w.events.add(dir, fd) != nil {
		return false
	}
	// Until learned is called, nothing is known.
	delete(w.dirs, dir)
	return true
}

func (w *watch) learned(dir string, k dirState) { w.dirs[dir] = k }
