package scopefs

import (
	"context"
	"errors"
	"io/fs"
)

// Remove removes a regular file or a symbolic link (the link, not its target) from a
// writable root. A protected path is refused unless ctx is one of [Approved].
func (f *FS) Remove(ctx context.Context, path string) error {
	e, _, err := f.removable(ctx, path)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.dir.Remove(e.name); err != nil {
		return f.wrap(path, err)
	}
	f.forget(path)
	return nil
}

// Rename gives a regular file or a symbolic link a new path in the same writable root and
// creates missing directories. It replaces nothing: an existing path is Exists, on
// systems other than Linux as far as it can be detected before the system renames. A
// protected path is refused unless ctx is one of [Approved].
func (f *FS) Rename(ctx context.Context, from, to string) error {
	old, at, err := f.removable(ctx, from)
	if err != nil {
		return err
	}
	defer old.close()
	dest, err := f.writable(ctx, to, false)
	if err != nil {
		return err
	}
	if at.root != dest.root {
		return sayf(IO, to, nil, "is in another directory of the scope: write the new file there and remove the old one")
	}
	e, err := f.entryIn(dest, true)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.isFree(to); err != nil {
		return f.wrap(to, err)
	}
	digest, read := f.LastRead(from)
	if err := old.rename(e); err != nil {
		if errors.Is(err, fs.ErrExist) {
			from = to
		}
		return f.wrap(from, err)
	}
	if read {
		f.forget(from)
		f.NoteRead(to, digest)
	}
	return nil
}

// isFree refuses an existing name.
func (e entry) isFree(path string) error {
	_, err := e.dir.Lstat(e.name)
	switch {
	case err == nil:
		return &PathError{Kind: Exists, Path: path}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
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

// removable opens the directory of a regular file or a symbolic link in a writable
// root. The caller closes the entry.
func (f *FS) removable(ctx context.Context, path string) (entry, place, error) {
	p, err := f.writable(ctx, path, false)
	if err != nil {
		return entry{}, p, err
	}
	e, err := f.entryIn(p, false)
	if err != nil {
		return entry{}, p, err
	}
	info, err := e.dir.Lstat(e.name)
	if err == nil && info.Mode().Type() != fs.ModeSymlink {
		err = regular(path, info)
	}
	if err != nil {
		e.close()
		return entry{}, p, f.wrap(path, err)
	}
	return e, p, nil
}
