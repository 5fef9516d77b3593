package scopefs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Batch is changes of files that are made together or not at all. Its methods other than Commit check
// a change and prepare it, so that what can fail has failed before the first file changes: new content
// is on disk beside its file. The changes are made in the order of the calls. Close it after use.
//
// What a change replaces or removes keeps its inode beside its place until all changes are made: to
// take them back is to move it there again, with its permissions, times and hard links. A crash in the
// middle of Commit leaves each file as it was or as it becomes.
type Batch struct {
	fs    *FS
	parts []*part
	// made are the directories that were created.
	made []entry
	done bool
}

// part is one change.
type part struct {
	// path is what changes, dest the new path of a rename.
	path, dest string
	// at is what changes, to the new place of a rename.
	at, to entry
	// temp is the name of the new content, and then of what was there before.
	temp *temporary
	// file has the new content.
	file *os.File
	kind change
	// replaces says that a write replaces a file.
	replaces bool
	noted    func()
}

// change is a kind of change.
type change int

const (
	writes change = iota
	removes
	renames
	// moves is a rename with a new text: no moment shows the new text at the old path, or the old text
	// at the new one.
	moves
)

// Batch begins a batch.
func (f *FS) Batch() *Batch { return &Batch{fs: f} }

// Close removes what is prepared and not made, and what the changes replaced and removed.
func (b *Batch) Close() error {
	var errs []error
	for _, p := range b.parts {
		if p.file != nil {
			errs = append(errs, p.file.Close())
		}
		if p.temp != nil {
			errs = append(errs, ignoreMissing(p.at.dir.Remove(p.temp.name)))
			p.temp.done()
		}
		p.at.close()
		p.to.close()
	}
	for _, dir := range slices.Backward(b.made) {
		if !b.done {
			// One in which somebody put something stays.
			_ = dir.withDir(func(fd uintptr) error { return unix.Unlinkat(int(fd), dir.name, unix.AT_REMOVEDIR) })
		}
		dir.close()
	}
	b.parts, b.made = nil, nil
	return errors.Join(errs...)
}

// Write prepares what WriteFile does. With fresh, an earlier change of the batch frees the path, so
// that it is a new file, whatever has the path now.
func (b *Batch) Write(ctx context.Context, path string, data []byte, fresh bool) (Written, error) {
	p, err := b.fs.writable(ctx, path, !fresh)
	if err != nil {
		return Written{}, err
	}
	e, err := b.fs.entryOn(p, &b.made)
	if err != nil {
		return Written{}, err
	}
	one := &part{path: path, at: e, kind: writes, noted: func() { b.fs.NoteRead(path, Digest(data)) }}
	b.parts = append(b.parts, one)
	var mode fs.FileMode
	var written Written
	if !fresh {
		if mode, written, err = e.toReplace(path); err != nil {
			return Written{}, b.fs.wrap(path, err)
		}
	}
	one.replaces = mode != 0
	one.temp, one.file, err = stage(e.dir, mode, data)
	return written, b.fs.wrap(path, err)
}

// Remove prepares the removal of a regular file or a symbolic link (the link, not its target) from a
// writable root. An earlier change of the batch may make it. A protected path is refused unless ctx is
// one of [Approved].
func (b *Batch) Remove(ctx context.Context, path string) error {
	e, _, err := b.going(ctx, path)
	if err != nil {
		return err
	}
	b.parts = append(b.parts, &part{path: path, at: e, kind: removes, temp: newTemporary(), noted: func() { b.fs.forget(path) }})
	return nil
}

// Rename prepares a new path in the same writable root for a regular file or a symbolic link, and
// creates missing directories. Earlier changes of the batch may make the file and free the new path. It
// replaces nothing: an existing path is Exists, on systems other than Linux as far as it can be detected
// before the system renames. A protected path is refused unless ctx is one of [Approved].
func (b *Batch) Rename(ctx context.Context, from, to string) error {
	e, at, err := b.going(ctx, from)
	if err != nil {
		return err
	}
	one := &part{path: from, dest: to, at: e, kind: renames, noted: func() {
		if digest, read := b.fs.LastRead(from); read {
			b.fs.forget(from)
			b.fs.NoteRead(to, digest)
		}
	}}
	b.parts = append(b.parts, one)
	dest, err := b.fs.writable(ctx, to, false)
	if err != nil {
		return err
	}
	if at.root != dest.root {
		return sayf(IO, to, nil, "is in another directory of the scope: write the new file there and remove the old one")
	}
	if one.to, err = b.fs.entryOn(dest, &b.made); err != nil {
		return err
	}
	b.join(one)
	return b.fs.wrap(to, one.to.takesNames(to))
}

// join makes one change of a rename and the write of the file before it.
func (b *Batch) join(rename *part) {
	i := slices.IndexFunc(b.parts, func(p *part) bool { return p.kind == writes && p.replaces && p.at.same(rename.at) })
	if i < 0 {
		return
	}
	write := b.parts[i]
	b.parts = slices.Delete(b.parts, i, i+1)
	rename.at.close()
	rename.kind, rename.at, rename.temp, rename.file = moves, write.at, write.temp, write.file
	renamed := rename.noted
	rename.noted = func() { write.noted(); renamed() }
}

// same says whether two entries are one name in one directory.
func (e entry) same(other entry) bool {
	one, err := e.dir.Stat(".")
	two, otherErr := other.dir.Stat(".")
	return err == nil && otherErr == nil && e.name == other.name && os.SameFile(one, two)
}

// going opens the directory of a path that loses its file, and checks what can be checked before.
func (b *Batch) going(ctx context.Context, path string) (entry, place, error) {
	p, err := b.fs.writable(ctx, path, false)
	if err != nil {
		return entry{}, p, err
	}
	e, err := b.fs.entryOn(p, &b.made)
	if err != nil {
		return entry{}, p, err
	}
	if err = e.movable(path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = e.takesNames(path)
	}
	if err != nil {
		e.close()
	}
	return e, p, b.fs.wrap(path, err)
}

// movable refuses what is not a regular file or a link.
func (e entry) movable(path string) error {
	info, err := e.dir.Lstat(e.name)
	if err == nil && info.Mode().Type() != fs.ModeSymlink {
		err = regular(path, info)
	}
	return err
}

// takesNames refuses a directory in which no names may change.
func (e entry) takesNames(path string) error {
	return e.withDir(func(fd uintptr) error {
		if err := unix.Faccessat(int(fd), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			return sayf(IO, path, err, "is in a directory that cannot be changed: %s", reason(err))
		}
		return nil
	})
}

// Commit makes the changes. After an error all is as it was, except for the paths in stuck.
func (b *Batch) Commit() (stuck []string, err error) {
	var made []*part
	for _, p := range b.parts {
		if err = p.do(b.fs); err != nil {
			break
		}
		made = append(made, p)
	}
	if err == nil {
		err = b.sync()
	}
	if err == nil {
		for _, p := range b.parts {
			p.noted()
		}
		b.done = true
		// What cannot be removed beside its place is no reason to call the changes failed.
		_ = b.Close()
		return nil, nil
	}
	for _, p := range slices.Backward(made) {
		if p.undo() != nil {
			stuck = append(stuck, p.path)
			// What was there before stays beside its place.
			p.keep()
		}
	}
	return stuck, errors.Join(err, b.Close())
}

// sync makes the changes last.
func (b *Batch) sync() error {
	for _, p := range b.parts {
		if err := syncDir(p.at.dir); err != nil {
			return b.fs.wrap(p.path, err)
		}
		if p.kind == renames || p.kind == moves {
			if err := syncDir(p.to.dir); err != nil {
				return b.fs.wrap(p.path, err)
			}
		}
	}
	return nil
}

// aside is the entry of the temporary name.
func (p *part) aside() entry { return entry{dir: p.at.dir, name: p.temp.name} }

func (p *part) do(f *FS) (err error) {
	if p.kind != writes {
		if err := p.at.movable(p.path); err != nil {
			return f.wrap(p.path, err)
		}
	}
	switch {
	case p.kind == removes:
		err = p.at.rename(p.aside())
	case p.kind == renames:
		if err = p.at.rename(p.to); errors.Is(err, fs.ErrExist) {
			return f.wrap(p.dest, err)
		}
	case p.kind == moves:
		if err = p.aside().rename(p.to); errors.Is(err, fs.ErrExist) {
			return f.wrap(p.dest, err)
		}
		if err == nil {
			if err = p.at.rename(p.aside()); err != nil {
				err = errors.Join(err, p.to.rename(p.aside()))
			}
		}
	case p.replaces:
		err = p.at.trade(p.temp.name)
	default:
		err = p.aside().rename(p.at)
	}
	return f.wrap(p.path, err)
}

func (p *part) undo() error {
	switch {
	case p.kind == removes:
		return p.aside().rename(p.at)
	case p.kind == renames:
		return p.to.rename(p.at)
	case p.kind == moves:
		if err := p.aside().rename(p.at); err != nil {
			return err
		}
		return p.to.rename(p.aside())
	case p.replaces:
		return p.at.trade(p.temp.name)
	}
	return p.at.rename(p.aside())
}

// keep leaves what was there before beside its place.
func (p *part) keep() {
	if p.temp != nil {
		p.temp.done()
		p.temp = nil
	}
}

// trade exchanges the file of the entry with another one in its directory.
func (e entry) trade(other string) error {
	return e.withDir(func(fd uintptr) error {
		err := exchangeAt(int(fd), other, e.name)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.ENOTSUP) {
			return err
		}
		// The file system cannot exchange: for a moment, nothing has the name.
		third := newTemporary()
		defer third.done()
		if err := unix.Renameat(int(fd), e.name, int(fd), third.name); err != nil {
			return err
		}
		if err := unix.Renameat(int(fd), other, int(fd), e.name); err != nil {
			return errors.Join(err, unix.Renameat(int(fd), third.name, int(fd), e.name))
		}
		return unix.Renameat(int(fd), third.name, int(fd), other)
	})
}

// rename renames an entry, in the directories as they were opened, whatever their paths
// lead to by now.
func (e entry) rename(to entry) error {
	return e.withDir(func(from uintptr) error {
		return to.withDir(func(dest uintptr) error { return renameAt(int(from), e.name, int(dest), to.name) })
	})
}

// withDir calls fn with the descriptor of the directory.
func (e entry) withDir(fn func(fd uintptr) error) error {
	dir, err := e.dir.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	conn, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := conn.Control(func(fd uintptr) { err = fn(fd) }); cerr != nil {
		return cerr
	}
	return err
}
