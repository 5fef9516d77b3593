package scopefs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// opening opens the directories on the way to a place one by one and holds each
// against what is hidden. A name that has become a link since the place was followed
// is refused: whoever swaps directories for links gets nowhere that was not looked
// at.
type opening struct {
	fs     *FS
	hidden hiding
	// making makes directories that are missing.
	making bool
}

func (f *FS) newOpening(making bool) opening {
	return opening{fs: f, hidden: f.hiddenNow(), making: making}
}

// dir opens the directory at rel, which is clean, in a root. The caller closes it.
func (o opening) dir(r *root, rel string) (*os.Root, error) {
	dir, err := r.OpenRoot(".")
	if err != nil || rel == "." || rel == "" {
		return dir, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		next, err := o.step(dir, name)
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// step opens a directory in another one.
func (o opening) step(dir *os.Root, name string) (*os.Root, error) {
	if o.hidden.reserves(dir, name) {
		return nil, errHidden(name)
	}
	// With "/." nothing but a directory is opened: a named pipe would block.
	next, err := dir.OpenRoot(name + "/.")
	if o.making && errors.Is(err, fs.ErrNotExist) {
		if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		next, err = dir.OpenRoot(name + "/.")
	}
	if err != nil {
		return nil, err
	}
	if err := o.check(dir, name, next); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// check refuses a directory that is hidden, or that name in its parent was not the
// name of.
func (o opening) check(parent *os.Root, name string, dir *os.Root) error {
	info, err := dir.Stat(".")
	if err != nil {
		return err
	}
	if o.hidden.has(info) {
		return errHidden(name)
	}
	return isNamed(parent, name, info)
}

// dirAt opens the directory that a place leads to. The caller closes it.
func (f *FS) dirAt(p place) (*os.Root, error) {
	if !p.near {
		// With "/." nothing but a directory is opened, should it change now.
		dir, err := p.OpenRoot(p.rel + "/.")
		return dir, f.wrap(p.given, err)
	}
	p, err := f.follow(p, true)
	if err != nil {
		return nil, err
	}
	dir, err := f.newOpening(false).dir(p.root, p.rel)
	return dir, f.at(p.given, err)
}

// entry is a name in a directory that was opened.
type entry struct {
	dir  *os.Root
	name string
	// held says that dir is for the entry alone, to be closed with it.
	held bool
}

func (e entry) close() {
	if e.held {
		_ = e.dir.Close()
	}
}

// entryOf is where a place that is to be read leads, links followed.
func (f *FS) entryOf(p place) (entry, error) {
	if !p.near {
		return entry{dir: p.Root, name: p.rel}, nil
	}
	p, err := f.follow(p, true)
	if err != nil {
		return entry{}, err
	}
	return f.entryIn(p, false)
}

// entryIn is the entry of a place that was followed, its directory opened step by
// step and made if that is wanted.
func (f *FS) entryIn(p place, making bool) (entry, error) {
	parent, name := path.Split(p.rel)
	o := f.newOpening(making)
	dir, err := o.dir(p.root, path.Clean(parent))
	if err != nil {
		return entry{}, f.at(p.given, err)
	}
	e := entry{dir: dir, name: name, held: true}
	if err := o.checkEntry(e); err != nil {
		e.close()
		return entry{}, f.at(p.given, err)
	}
	return e, nil
}

// checkEntry refuses a name that is hidden, whether something has it or not.
func (o opening) checkEntry(e entry) error {
	if o.hidden.reserves(e.dir, e.name) {
		return errHidden(e.name)
	}
	if info, err := e.dir.Lstat(e.name); err == nil && o.hidden.has(info) {
		return errHidden(e.name)
	}
	return nil
}

// at gives an error that is about a step on the way the path that the caller knows.
func (f *FS) at(given string, err error) error {
	if e, ok := errors.AsType[*PathError](err); ok && e.Path != given {
		again := *e
		again.Path = given
		return &again
	}
	return f.wrap(given, err)
}
