package scratch

import (
	"context"
	"io/fs"
	"os"
	"syscall"
)

// meter adds up what a command has created, which may be as many files and as deep as it
// likes.
type meter struct {
	ctx         context.Context
	dir         *Dir
	taken, left Usage
	// linked are the files with several names, which count once.
	linked map[uint64]bool
}

// maxDepth is deeper than programs nest, and not too deep to follow.
const maxDepth = 200

// measure returns what the files use, or a FullError as soon as that is more than left.
func (d *Dir) measure(ctx context.Context, left Usage, open func(device uint64) Usage) (Usage, error) {
	root, err := openRoot(d.Path)
	if err != nil {
		return Usage{}, err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return Usage{}, err
	}
	m := meter{ctx: ctx, dir: d, left: left, linked: map[uint64]bool{}}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && open != nil {
		m.taken = open(uint64(stat.Dev)) //nolint:unconvert // macOS has another type
	}
	if m.taken.over(m.left) {
		return m.taken, m.full(false)
	}
	err = m.below(root, 0)
	return m.taken, err
}

// openRoot opens a directory, but not through a link.
func openRoot(path string) (*os.Root, error) {
	there, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(there, opened) {
		_ = root.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
	}
	return root, nil
}

func (m *meter) full(deep bool) error {
	return &FullError{Dir: m.dir, Taken: m.taken, Left: m.left, Deep: deep}
}

func (m *meter) below(dir *os.Root, depth int) error {
	if depth > maxDepth {
		return m.full(true)
	}
	list, err := dir.Open(".")
	if err != nil {
		return nil // It is gone.
	}
	defer list.Close()
	for {
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		const atOnce = 1024
		names, err := list.Readdirnames(atOnce)
		for _, name := range names {
			if err := m.add(dir, name, depth); err != nil {
				return err
			}
		}
		if err != nil { // io.EOF, or it is gone.
			return nil
		}
	}
}

// add counts an entry of a directory, and everything below it.
func (m *meter) add(dir *os.Root, name string, depth int) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil // It is gone.
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() && stat.Nlink > 1 && m.linked[stat.Ino] {
		return nil
	}
	if !info.IsDir() && stat.Nlink > 1 {
		m.linked[stat.Ino] = true
	}
	const sector = 512
	m.taken.Bytes += stat.Blocks * sector
	m.taken.Files++
	if m.taken.over(m.left) {
		return m.full(false)
	}
	if !info.IsDir() {
		return nil
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		// What a command closed to itself is measured too.
		_ = dir.Chmod(name, info.Mode().Perm()|0o700)
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil
	}
	defer sub.Close()
	return m.below(sub, depth+1)
}
