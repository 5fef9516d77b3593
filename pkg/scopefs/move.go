package scopefs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Remove removes a regular file or a symbolic link (the link, not what it names)
// from a writable root.
func (f *FS) Remove(path string) error {
	p, err := f.removable(path)
	if err != nil {
		return err
	}
	if err := p.Remove(p.rel); err != nil {
		return f.wrap(path, err)
	}
	f.forget(path)
	return nil
}

// Rename gives a regular file or a symbolic link a new path in the same writable
// root and makes the directories that are missing. It replaces nothing: a path that
// is taken is Exists, as far as that can be told before the system renames.
func (f *FS) Rename(from, to string) error {
	old, err := f.removable(from)
	if err != nil {
		return err
	}
	dest, err := f.writable(to, false)
	if err != nil {
		return err
	}
	if old.root != dest.root {
		return sayf(IO, to, nil, "is in another root of the scope than the file: write it there and remove the old one")
	}
	switch _, err := dest.Lstat(dest.rel); {
	case err == nil:
		return &PathError{Kind: Exists, Path: to}
	case !errors.Is(err, fs.ErrNotExist):
		return f.wrap(to, err)
	}
	if err := dest.MkdirAll(filepath.Dir(dest.rel), 0o777); err != nil {
		return f.wrap(to, err)
	}
	digest, read := f.LastRead(from)
	if err := old.Root.Rename(old.rel, dest.rel); err != nil {
		return f.wrap(from, err)
	}
	if read {
		f.forget(from)
		f.NoteRead(to, digest)
	}
	return nil
}

// removable locates a regular file or a symbolic link of a writable root.
func (f *FS) removable(path string) (place, error) {
	p, err := f.writable(path, false)
	if err != nil {
		return place{}, err
	}
	info, err := p.Lstat(p.rel)
	if err != nil {
		return place{}, f.wrap(path, err)
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return p, nil
	}
	return p, regular(path, info)
}
