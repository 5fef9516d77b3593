package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Restored is what a restore did.
type Restored struct {
	// Paths are those that it wrote or removed, relative to the directory.
	Paths []string
	// Merged are those of them that also keep what somebody changed.
	Merged []string
	// Conflicts are those that changed since the plan. They stay as they are.
	Conflicts []Conflict
}

// ErrNoExchange says that a file system cannot put a file in the place of another one and keep
// that: then a restore could destroy what somebody writes at the same time.
var ErrNoExchange = errors.New("its file system cannot exchange two files")

// Restore does the steps of a plan. Each file gets its place whole, and what it replaces is
// looked at afterwards: if that is not what the agent left, it goes back. Restore may be
// called again with the same steps after it was killed.
func (w *Workspace) Restore(ctx context.Context, steps []Step) (done Restored, err error) {
	steps = slices.SortedFunc(slices.Values(steps), func(a, b Step) int { return order(a.Want, b.Want, a.Path, b.Path) })
	err = w.use(func() error {
		root, err := os.OpenRoot(w.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := w.settleAll(root); err != nil {
			return err
		}
		noted, all, err := w.newAsides(steps)
		if err != nil {
			return err
		}
		err = exchanges(root, all[0].Name, all[1].Name)
		for _, a := range all[2:] {
			if err = cmp.Or(err, context.Cause(ctx)); err != nil {
				break
			}
			err = w.step(root, noted, a, &done)
		}
		return cmp.Or(err, noted.close(err == nil))
	})
	slices.Sort(done.Paths)
	slices.Sort(done.Merged)
	return done, err
}

// exchanges tries whether the file system can exchange files.
func exchanges(root *os.Root, a, b string) (err error) {
	for _, name := range []string{a, b} {
		if err := lay(root, name, File{Mode: typeFile | 0o600}, nil); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Remove(name)) }()
	}
	return at(root, func(fd int) error { return swap(fd, a, b) })
}

// at calls fn with the descriptor of a directory.
func at(dir *os.Root, fn func(fd int) error) error {
	file, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer file.Close()
	return fn(int(file.Fd()))
}

// step does one step.
func (w *Workspace) step(root *os.Root, noted *asides, a aside, done *Restored) error {
	s := a.Step
	keeps := func(why string) { done.Conflicts = append(done.Conflicts, Conflict{s.Path, why}) }
	dir, name, err := way(root, s.Path, s.Want.Exists())
	switch {
	case errors.Is(err, errWay):
		keeps(whyWay)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer dir.Close()
	now, data, err := lookIn(dir, name)
	if err != nil && !errors.Is(err, errNotFile) {
		return err
	}
	if err == nil && now == s.Want {
		return nil
	}
	var text []byte
	if err != nil || now != s.Left {
		m, err := w.repo.merge(s, now, data)
		switch {
		case err != nil:
			return err
		case !m.ok:
			keeps(why(s, now))
			return nil
		case m.File == now:
			return nil
		}
		a.Merged = m.Hash
		if err := noted.note(a); err != nil {
			return err
		}
		s.Left, s.Want, text = now, m.File, m.text
	} else if s.Want.Exists() && !s.Want.IsDir() {
		if text, err = w.repo.read(s.Want.Hash); err != nil {
			return err
		}
	}
	conflict, err := give(dir, name, a.Name, s, text)
	if err != nil {
		return err
	}
	if conflict != "" {
		keeps(conflict)
		return nil
	}
	done.Paths = append(done.Paths, s.Path)
	if !a.Merged.IsZero() {
		done.Merged = append(done.Merged, s.Path)
	}
	return at(dir, unix.Fsync)
}

// give gives a path, which has what the agent left, what is wanted: text, for a file or link.
// conflict is why the path stays as it is.
func give(dir *os.Root, name, temp string, s Step, text []byte) (conflict string, err error) {
	if s.Left.IsDir() && s.Want.IsDir() {
		return "", dir.Chmod(name, fs.FileMode(s.Want.Perm()))
	}
	switch {
	case s.Left.IsDir():
		// A directory that has something stays.
		err = at(dir, func(fd int) error { return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR) })
		if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			if !s.Want.Exists() {
				return "", nil
			}
			return whyFull, nil
		}
		s.Left = File{}
	case !s.Want.Exists() || s.Want.IsDir():
		conflict, err = take(dir, name, temp, s)
	}
	switch {
	case err != nil || conflict != "" || !s.Want.Exists():
		return conflict, err
	case s.Want.IsDir():
		return "", cmp.Or(dir.Mkdir(name, 0o700), dir.Chmod(name, fs.FileMode(s.Want.Perm())))
	}
	return put(dir, name, temp, s, text)
}

// put gives a path its file.
func put(dir *os.Root, name, temp string, s Step, text []byte) (conflict string, err error) {
	if err := lay(dir, temp, s.Want, text); err != nil {
		return "", err
	}
	if !s.Left.Exists() {
		err := at(dir, func(fd int) error { return moveTo(fd, temp, name) })
		if errors.Is(err, fs.ErrExist) {
			return whyAppears, dir.Remove(temp)
		}
		return "", err
	}
	if err := at(dir, func(fd int) error { return swap(fd, temp, name) }); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return whyGone, dir.Remove(temp)
		}
		return "", errors.Join(err, dir.Remove(temp))
	}
	out, _, err := lookIn(dir, temp)
	if err == nil && out == s.Left {
		return "", dir.Remove(temp)
	}
	return whyChanged, at(dir, func(fd int) error { return cmp.Or(swap(fd, temp, name), unix.Unlinkat(fd, temp, 0)) })
}

// lay makes a file under its name for now.
func lay(dir *os.Root, temp string, f File, data []byte) error {
	if f.IsLink() {
		return dir.Symlink(string(data), temp)
	}
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Chmod(fs.FileMode(f.Perm())), file.Sync(), file.Close())
}

// take removes a file: it goes aside first, and back if it is not what the agent left.
func take(dir *os.Root, name, temp string, s Step) (conflict string, err error) {
	if err := at(dir, func(fd int) error { return moveTo(fd, name, temp) }); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	out, _, err := lookIn(dir, temp)
	if err == nil && out == s.Left {
		return "", dir.Remove(temp)
	}
	return whyChanged, at(dir, func(fd int) error { return moveTo(fd, temp, name) })
}
