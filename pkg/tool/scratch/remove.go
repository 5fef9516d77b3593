package scratch

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Empty removes the files, and keeps the directory, which commands may have mounted.
func (d *Dir) Empty() error {
	root, err := openRoot(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	d.mu.Lock()
	d.known = false
	d.mu.Unlock()
	return empty(root, 0)
}

// empty removes the content of a directory, even what its owner cannot access.
func empty(dir *os.Root, depth int) error {
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer list.Close()
	var errs []error
	for {
		const atOnce = 1024
		names, err := list.Readdirnames(atOnce)
		for _, name := range names {
			errs = append(errs, remove(dir, name, depth))
		}
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}

// Remove removes an entry of a directory with everything in it, also what its owner cannot access.
func Remove(dir *os.Root, name string) error { return remove(dir, name, 0) }

func remove(dir *os.Root, name string, depth int) error {
	err := dir.RemoveAll(name)
	if err == nil || depth > maxDepth {
		return err
	}
	// A directory that its owner can't enter or change.
	if dir.Chmod(name, 0o700) != nil {
		return err
	}
	if sub, open := dir.OpenRoot(name); open == nil {
		_ = empty(sub, depth+1)
		_ = sub.Close()
	}
	return dir.RemoveAll(name)
}
