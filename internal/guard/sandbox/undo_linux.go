package sandbox

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"podd/pkg/lazy"

	"golang.org/x/sys/unix"
)

const (
	// asidePrefix begins the names of things renamed in place because they could not be
	// moved to another file system while their command ran.
	asidePrefix = ".podd-moved-"
	// maxKept bounds how many things of one command are kept, maxKeptBytes the size of each,
	// and maxAway how many things of all commands of a pod are kept.
	maxKept      = 32
	maxKeptBytes = 16 << 20
	maxAway      = 64
)

// aside is something that was renamed in place.
type aside struct {
	dir  *os.File
	name string
	path string
}

// undo moves what has a name in a directory away. It says whether the name is free then.
func (g *Guard) undo(dir *os.File, path, name, why string) bool {
	at := int(dir.Fd())
	m := g.note(path, why)
	away, to, err := g.destination(name)
	if err == nil {
		err = unix.Renameat(at, name, int(away.Fd()), filepath.Base(to))
		_ = away.Close()
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		// It is another file system, or a directory that its owner cannot write to, which can
		// only be renamed in place.
		err = g.putAside(dir, path, name)
		to = m.To
	}
	if errors.Is(err, unix.ENOENT) {
		return true
	}
	if m.Err = err; err != nil {
		g.log.Error("a protected path that a command changed cannot be moved away", "path", path, "error", err)
		return false
	}
	// It replaces an earlier one, which stays until then: the same thing may be seen twice.
	if m.To != "" && m.To != to && os.Remove(m.To) != nil {
		g.garbage = append(g.garbage, m.To)
	}
	m.To = to
	g.forget = append(g.forget, path)
	return true
}

// note is the entry of a path in the result.
func (g *Guard) note(path, why string) *Moved {
	m := g.moved[path]
	if m == nil {
		m = &Moved{Path: path, Why: why}
		g.moved[path] = m
		g.order = append(g.order, path)
	}
	m.times++
	return m
}

// plainName matches names that are kept.
var plainName = lazy.Regexp(`^[\w.-]{1,64}$`)

// destination is a new place for a thing.
func (g *Guard) destination(name string) (away *os.File, to string, err error) {
	dir, err := g.away()
	if err != nil {
		return nil, "", err
	}
	if away, err = os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return nil, "", err
	}
	if !plainName().MatchString(name) {
		name = "file"
	}
	return away, filepath.Join(dir, rand.Text()[:8]+"-"+name), nil
}

// putAside renames a thing in place, to a name that no program obeys.
func (g *Guard) putAside(dir *os.File, path, name string) error {
	at := int(dir.Fd())
	other := asidePrefix + rand.Text()[:12]
	err := unix.Renameat(at, name, at, other)
	if errors.Is(err, unix.EACCES) {
		openUp(at)
		err = unix.Renameat(at, name, at, other)
	}
	if err != nil {
		return err
	}
	if len(g.aside) >= maxKept && unix.Unlinkat(at, other, 0) == nil {
		return nil
	}
	held, err := reopen(dir, ".", true)
	if err != nil {
		return err
	}
	g.aside = append(g.aside, aside{held, other, path})
	return nil
}

// sweep handles what a killed podd has put aside.
func (g *Guard) sweep(dir *os.File, name string) {
	if held, err := reopen(dir, ".", true); err == nil {
		g.aside = append(g.aside, aside{held, name, name})
	}
}

// tidy runs after the command: it copies away what was put aside, and removes what is too
// much.
func (g *Guard) tidy() {
	for _, a := range g.aside {
		to, err := g.carry(a)
		switch m := g.moved[a.path]; {
		case to == "" || m == nil:
		case m.To != "":
			// Of things that appeared at a path repeatedly only the last is kept.
			g.garbage, m.To = append(g.garbage, m.To), to
		default:
			m.To = to
		}
		if err != nil {
			g.log.Warn("a protected path that a command changed cannot be kept", "path", a.path, "error", err)
		}
		_ = a.dir.Close()
	}
	kept := 0
	for _, path := range g.order {
		m := g.moved[path]
		if m.To == "" {
			continue
		}
		if kept++; kept > maxKept || size(m.To) > maxKeptBytes {
			g.garbage, m.To = append(g.garbage, m.To), ""
		}
	}
	if len(g.order) > 0 && g.away != nil {
		if dir, err := g.away(); err == nil {
			g.clear(dir)
		}
	}
}

// carry copies what was put aside away, and removes it. It does not keep what is too
// large.
func (g *Guard) carry(a aside) (to string, err error) {
	parent, err := os.OpenRoot(descriptorPath(int(a.dir.Fd())))
	if err != nil {
		return "", err
	}
	defer parent.Close()
	openTree(parent, a.name)
	away, to, err := g.destination(filepath.Base(a.path))
	if err != nil {
		return "", errors.Join(err, parent.RemoveAll(a.name))
	}
	_ = away.Close()
	room := int64(maxKeptBytes)
	if err = copyTree(parent, a.name, to, &room); err != nil {
		g.garbage, to = append(g.garbage, to), ""
	}
	return to, errors.Join(err, parent.RemoveAll(a.name))
}

var errTooLarge = errors.New("it is larger than what is kept")

// copyTree copies files, directories and links, and nothing else.
func copyTree(from *os.Root, name, to string, room *int64) error {
	return fs.WalkDir(from.FS(), name, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, path[len(name):])
		// An entry uses disk space, too.
		if *room -= 4 << 10; *room < 0 {
			return errTooLarge
		}
		switch {
		case e.IsDir():
			return os.Mkdir(target, 0o700)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := from.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case e.Type().IsRegular():
			return copyFile(from, path, target, room)
		}
		return nil
	})
}

func copyFile(from *os.Root, path, target string, room *int64) error {
	source, err := from.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.CopyN(file, source, *room+1)
	if *room -= n; *room < 0 {
		err = errTooLarge
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// openTree gives the owner of a tree all permissions.
func openTree(root *os.Root, name string) {
	_ = fs.WalkDir(root.FS(), name, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			if info, err := e.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				_ = root.Chmod(path, 0o700)
			}
		}
		return nil
	})
}

// size is the size of a thing, or more than maxKeptBytes.
func size(path string) (total int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if total += 4 << 10; err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		if total > maxKeptBytes {
			return fs.SkipAll
		}
		return nil
	})
	return total
}

// clear removes the garbage, and the oldest things of earlier commands.
func (g *Guard) clear(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	remove := func(path string) {
		name := filepath.Base(path)
		openTree(root, name)
		if err := root.RemoveAll(name); err != nil {
			g.log.Warn("what a command left at a protected path cannot be removed", "path", path, "error", err)
		}
	}
	for _, path := range g.garbage {
		remove(path)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxAway {
		return
	}
	ages := make(map[string]time.Time, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			ages[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return ages[b.Name()].Compare(ages[a.Name()]) })
	for _, e := range entries[maxAway:] {
		remove(filepath.Join(dir, e.Name()))
	}
}
