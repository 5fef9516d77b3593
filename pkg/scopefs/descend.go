package scopefs

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// opening opens the directories on the way to a place one by one and checks each against
// the hidden ones. It refuses a name that has become a link since the place was resolved:
// swapping directories for links leads only to places that were checked.
type opening struct {
	fs     *FS
	hidden hiding
	// making creates missing directories, which made gets, unless it is nil.
	making bool
	made   *[]entry
	// spot is the place that was decided on; nil without a decision.
	spot *spot
}

func (f *FS) newOpening(making bool) opening {
	return opening{fs: f, hidden: f.hiddenNow(), making: making}
}

// dir opens the directory at rel, which is clean, in a root. The caller closes it.
func (o opening) dir(r *root, rel string) (*os.Root, error) {
	dir, err := r.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	err = o.passes(dir, ".")
	making := o.making
	for at := range parents(rel + "/") {
		if at == "." {
			continue
		}
		if err != nil {
			break
		}
		o.making = making && (o.spot == nil || o.spot.missed(at))
		var next *os.Root
		if next, err = o.step(dir, path.Base(at)); err == nil {
			_ = dir.Close()
			dir = next
			err = o.passes(dir, at)
		} else if o.spot != nil && !o.spot.missed(at) && o.fs.moved(err) {
			err = changed(o.spot.given)
		}
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// step opens a directory in another one.
func (o opening) step(dir *os.Root, name string) (*os.Root, error) {
	if o.hidden.reserves(dir, name) {
		return nil, errHidden(name)
	}
	// With "/." only a directory opens: a named pipe would block.
	next, err := dir.OpenRoot(name + "/.")
	if o.making && errors.Is(err, fs.ErrNotExist) {
		made := dir.Mkdir(name, 0o777)
		if made != nil && !errors.Is(made, fs.ErrExist) {
			return nil, made
		}
		next, err = dir.OpenRoot(name + "/.")
		if err == nil && made == nil {
			err = o.note(dir, name, next)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.check(dir, name, next); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// note records a created directory.
func (o opening) note(parent *os.Root, name string, dir *os.Root) error {
	if o.made != nil {
		held, err := parent.OpenRoot(".")
		if err != nil {
			return err
		}
		*o.made = append(*o.made, entry{dir: held, name: name, held: true})
	}
	if o.spot == nil {
		return nil
	}
	info, err := dir.Stat(".")
	if err == nil {
		o.fs.bound.note(info)
	}
	return err
}

// check refuses a directory that is hidden, or that name in its parent did not mean.
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
	f, err := f.allowed(p.given)
	if err != nil {
		return nil, err
	}
	if !p.near && f.bound == nil {
		// With "/." only a directory opens, should it change now.
		dir, err := p.OpenRoot(p.rel + "/.")
		return dir, f.wrap(p.given, err)
	}
	if p, err = f.read(p); err != nil {
		return nil, err
	}
	o := f.newOpening(false)
	o.spot = p.spot
	dir, err := o.dir(p.root, p.rel)
	return dir, f.at(p.given, err)
}

// entry is a name in an opened directory.
type entry struct {
	dir  *os.Root
	name string
	// held says that dir is only for the entry, and is closed with it.
	held bool
}

func (e entry) close() {
	if e.held {
		_ = e.dir.Close()
	}
}

// entryOf is the entry that a place to read leads to, with links followed.
func (f *FS) entryOf(p place) (entry, error) {
	if !p.near && f.bound == nil {
		return entry{dir: p.Root, name: p.rel}, nil
	}
	p, err := f.read(p)
	if err != nil {
		return entry{}, err
	}
	return f.entryIn(p, false)
}

// read is the place that a path to read leads to: the one that was decided on, if any.
func (f *FS) read(p place) (place, error) {
	if f.bound != nil {
		return f.decided(p, true, false)
	}
	return f.follow(p, true)
}

// entryIn is the entry of a resolved place; its directory is opened step by step and, on
// request, created.
func (f *FS) entryIn(p place, making bool) (entry, error) {
	return f.newOpening(making).entry(p)
}

// entryOn is entryIn that creates directories and adds them to made.
func (f *FS) entryOn(p place, made *[]entry) (entry, error) {
	o := f.newOpening(true)
	o.made = made
	return o.entry(p)
}

func (o opening) entry(p place) (entry, error) {
	f := o.fs
	parent, name := path.Split(p.rel)
	o.spot = p.spot
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

// checkEntry refuses a hidden name, whether or not it exists.
func (o opening) checkEntry(e entry) error {
	if o.hidden.reserves(e.dir, e.name) {
		return errHidden(e.name)
	}
	if info, err := e.dir.Lstat(e.name); err == nil && o.hidden.has(info) {
		return errHidden(e.name)
	}
	return nil
}

// at replaces the path of an error about a step on the way by the caller's path.
func (s *scope) at(given string, err error) error {
	if e, ok := errors.AsType[*PathError](err); ok && e.Path != given {
		again := *e
		again.Path = given
		return &again
	}
	return s.wrap(given, err)
}
