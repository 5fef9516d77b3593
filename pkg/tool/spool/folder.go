package spool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podd/pkg/lazy"
	"podd/pkg/tool/scratch"
)

// Folder is the files of one pod.
type Folder struct {
	spool *Spool
	dir   string
	temp  *scratch.Dir
}

// Dir is the folder's path.
func (f *Folder) Dir() string { return f.dir }

// tempName is the directory of a folder that is not an output.
const tempName = "tmp"

// Temp is a directory for temporary files of the pod's commands, which may be missing. It is
// removed with the folder. CleanTemps removes files that have not changed for as long as
// outputs are kept.
func (f *Folder) Temp() *scratch.Dir { return f.temp }

// movedName is the directory of a folder for files that commands put in forbidden places.
const movedName = "moved"

// Moved is a directory for files that podd moves away from a forbidden place; Moved
// creates it. CleanTemps removes files that have not changed for as long as outputs are kept.
func (f *Folder) Moved() (string, error) {
	dir := scratch.New(filepath.Join(f.dir, movedName), "")
	return dir.Path, dir.Make()
}

// Quota bounds the files of all pods together, in bytes.
func (f *Folder) Quota() int64 { return f.spool.MaxBytes }

// Keep stores the full text of a tool's output and returns the path. It refuses a text
// that alone exceeds the quota, since that would push out all others.
func (f *Folder) Keep(tool, full string) (path string, err error) {
	if int64(len(full)) > f.spool.MaxBytes {
		return "", fmt.Errorf("%d bytes are over the spool's quota of %d", len(full), f.spool.MaxBytes)
	}
	file, err := f.Create(tool)
	if err != nil {
		return "", err
	}
	if _, err := file.WriteString(full); err != nil {
		file.Discard()
		return "", err
	}
	file.Keep()
	return file.Name(), nil
}

// Ends returns the start and the end of a kept text of this folder, at most n bytes each;
// both are the whole text when it is not longer.
func (f *Folder) Ends(path string, n int) (head, tail string, err error) {
	if filepath.Dir(path) != f.dir {
		return "", "", fmt.Errorf("%s is not in the spool folder", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", "", err
	}
	size := min(int64(n), info.Size())
	ends := make([]byte, 2*size)
	if _, err := file.ReadAt(ends[:size], 0); err != nil {
		return "", "", err
	}
	if _, err := file.ReadAt(ends[size:], info.Size()-size); err != nil {
		return "", "", err
	}
	return string(ends[:size]), string(ends[size:]), nil
}

// File is an output that is being written. Keep or Discard must follow.
type File struct {
	*os.File
	spool *Spool
}

// Create makes an empty file for the output of a tool, open for reading and for
// writing at its end.
func (f *Folder) Create(tool string) (*File, error) {
	return f.create(fileName(tool))
}

func (f *Folder) create(name string) (*File, error) {
	// Append: a command's processes write without coordination.
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{File: file, spool: f.spool}, nil
}

// outputExt ends the name of an output.
const outputExt = ".out"

// plainName matches a tool's name that is safe in a file's name. A model may call a tool
// by any name.
var plainName = lazy.Regexp(`^[a-zA-Z0-9_-]{1,64}$`)

func fileName(tool string) string {
	if !plainName().MatchString(tool) {
		tool = "tool"
	}
	return tool + "-" + rand.Text()[:12] + outputExt
}

// Keep closes the file and keeps it as long as the limits allow.
func (f *File) Keep() {
	var size int64
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	// Nothing was buffered here that closing could lose.
	_ = f.Close()
	f.spool.scrub(f.Name())
	f.spool.add(f.Name(), size)
}

// scrub removes secrets from a file.
func (s *Spool) scrub(path string) {
	if s.Scrub == nil {
		return
	}
	if err := s.Scrub(path); err != nil {
		s.Logger.Warn("spool file could not be searched for secrets and is emptied", "error", err)
		_ = os.Truncate(path, 0)
	}
}

// Discard closes the file and removes it.
func (f *File) Discard() {
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.spool.Logger.Warn("spool file could not be removed", "error", err)
	}
}
