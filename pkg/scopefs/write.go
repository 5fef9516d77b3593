package scopefs

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// unfinished are the names of files that are being written, with what rand.Text returns: no
// person gives such a name.
var unfinished = regexp.MustCompile(`^\.podd-[A-Z2-7]{26}\.tmp$`)

// Unfinished says whether a name looks like that of a file that podd is writing, or that a crash left
// behind. Anybody can give such a name: [Writing] says whether this process does.
func Unfinished(name string) bool { return unfinished.MatchString(name) }

// writing are the temporary names that this process uses now.
var writing sync.Map

// Writing says whether this process now writes a file under a temporary name. Others cannot guess such a
// name, so that it hides no other file.
func Writing(name string) bool {
	_, ok := writing.Load(name)
	return ok
}

// temporary is a name for a file that is not in its place yet, or any more. done says that no file has
// it.
type temporary struct {
	name string
	done func()
}

func newTemporary() *temporary {
	name := ".podd-" + rand.Text() + ".tmp"
	return &temporary{name, Hold(name)}
}

// Hold says that this process writes a file under a temporary name, until release is called.
func Hold(name string) (release func()) {
	writing.Store(name, nil)
	return func() { writing.Delete(name) }
}

// WriteFile makes data the content of a regular file, all or nothing: a reader sees the
// old content or the new, even after a crash. When it returns without an error the new
// content is on disk.
//
// An existing file keeps its permissions; hard links to it keep the old content. A new
// one gets those of the umask, and so do missing directories. A file that its owner may
// not write is not changed. A crash may leave a file behind, see [FS.RemoveUnfinished].
//
// A protected path ([FS.Protected]) is refused unless ctx is one of [Approved].
func (f *FS) WriteFile(ctx context.Context, path string, data []byte) (Written, error) {
	p, err := f.writable(ctx, path, true)
	if err != nil {
		return Written{}, err
	}
	e, err := f.entryIn(p, true)
	if err != nil {
		return Written{}, err
	}
	defer e.close()
	mode, written, err := e.toReplace(path)
	if err != nil {
		return Written{}, f.wrap(path, err)
	}
	return written, f.wrap(path, replace(e.dir, e.name, mode, data))
}

// begun is when this process began.
var begun = time.Now()

// Sync makes the content of a file last that another process wrote, or that nothing has the path.
func (f *FS) Sync(ctx context.Context, path string) error {
	p, err := f.writable(ctx, path, true)
	if err != nil {
		return err
	}
	e, err := f.entryIn(p, false)
	if err != nil {
		return f.wrap(path, ignoreMissing(err))
	}
	defer e.close()
	file, err := e.dir.OpenFile(e.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		err = errors.Join(file.Sync(), file.Close())
	}
	if err = ignoreMissing(err); err == nil {
		err = syncDir(e.dir)
	}
	return f.wrap(path, err)
}

// RemoveUnfinished removes what writers that were killed before this process began left beside
// a file. What a writer still writes stays, and so does everything where files have no locks.
func (f *FS) RemoveUnfinished(ctx context.Context, path string) error {
	p, err := f.writable(ctx, path, true)
	if err != nil {
		return err
	}
	e, err := f.entryIn(p, false)
	if err != nil {
		return ignoreMissing(err)
	}
	defer e.close()
	self, err := e.dir.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	names, err := self.Readdirnames(-1)
	removed := false
	for _, name := range names {
		if Unfinished(name) && abandoned(e.dir, name) {
			removed = true
			err = errors.Join(err, ignoreMissing(e.dir.Remove(name)))
		}
	}
	if removed {
		// After a power cut nobody would remove them again: the call has its result by then.
		err = errors.Join(err, self.Sync())
	}
	return err
}

// abandoned says whether the writer of a file is gone.
func abandoned(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || Writing(name) || !info.Mode().IsRegular() || !info.ModTime().Before(begun) {
		return false
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	opened, err := file.Stat()
	return err == nil && os.SameFile(info, opened) &&
		syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

// Written is what a caller should report about a write.
type Written struct {
	// HardLinks is how many other names the file had; they keep the old content.
	HardLinks int
}

// toReplace is the permissions of the file that a write replaces, 0 without one. A file
// that must not be replaced is an error.
func (e entry) toReplace(path string) (mode fs.FileMode, w Written, err error) {
	info, err := e.dir.Lstat(e.name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, w, nil
	}
	if err != nil {
		return 0, w, err
	}
	if err := regular(path, info); err != nil {
		return 0, w, err
	}
	mode = info.Mode().Perm()
	if mode&0o200 == 0 {
		return 0, w, sayf(IO, path, fs.ErrPermission, "is write-protected (mode %04o): make it writable first", mode)
	}
	return mode, Written{HardLinks: HardLinks(info) - 1}, nil
}

// replace writes a new file beside name and renames it to name. mode 0 leaves the
// permissions to the umask.
func replace(dir *os.Root, name string, mode fs.FileMode, data []byte) error {
	temp, file, err := stage(dir, mode, data)
	if err != nil {
		return err
	}
	defer temp.done()
	if err = errors.Join(dir.Rename(temp.name, name), file.Close()); err != nil {
		return errors.Join(err, ignoreMissing(dir.Remove(temp.name)))
	}
	return syncDir(dir)
}

// stage writes a new file under a temporary name. The caller closes it once it has its own name.
func stage(dir *os.Root, mode fs.FileMode, data []byte) (*temporary, *os.File, error) {
	perm := mode & 0o600 // Only users who could read the old content can read the new one.
	if mode == 0 {
		perm = 0o666
	}
	temp := newTemporary()
	file, err := dir.OpenFile(temp.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		temp.done()
		return nil, nil, err
	}
	// The lock says that the writer lives, until the file has its name. Some file systems have none.
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err := fill(file, mode, data); err != nil {
		err = errors.Join(err, file.Close(), ignoreMissing(dir.Remove(temp.name)))
		temp.done()
		return nil, nil, err
	}
	return temp, file, nil
}

// fill writes the file and syncs it.
func fill(file *os.File, mode fs.FileMode, data []byte) error {
	_, err := file.Write(data)
	if err == nil && mode != 0 {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	return err
}

// syncDir syncs the directory's entries; otherwise a power cut may undo a rename.
func syncDir(dir *os.Root) error {
	file, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
