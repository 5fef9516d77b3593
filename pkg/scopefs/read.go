package scopefs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// MaxFileBytes is how much ReadFile reads at most when it is asked for a whole
// file: 64 MiB.
const MaxFileBytes = 64 << 20

// File is a file that was read.
type File struct {
	// Path is the path to show: relative to the workspace where it lies in it.
	Path string
	// Data is the beginning of the file, or all of it.
	Data []byte
	// Size is the size of the whole file in bytes, as the open file said.
	Size    int64
	ModTime time.Time
	// Truncated says that the file goes on after Data.
	Truncated bool
}

// ReadFile reads at most most bytes of a regular file. A most of zero or less asks
// for the whole file, and one above MaxFileBytes is TooLarge then.
func (f *FS) ReadFile(path string, most int64) (File, error) {
	file, info, err := f.Open(path)
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	whole := most <= 0
	if whole {
		most = MaxFileBytes
	}
	data, err := readUpTo(file, info.Size(), most)
	if err != nil {
		return File{}, f.wrap(path, err)
	}
	out := File{Path: f.Rel(path), Data: data, Size: info.Size(), ModTime: info.ModTime()}
	if int64(len(data)) > most {
		out.Data, out.Truncated = data[:most], true
	}
	if whole && out.Truncated {
		return File{}, sayf(TooLarge, path, nil,
			"has %d bytes, more than the %d that are read at once: read a part of it", info.Size(), most)
	}
	return out, nil
}

// readUpTo reads most bytes and one more, which tells whether there is more. size is
// what to expect.
func readUpTo(r io.Reader, size, most int64) ([]byte, error) {
	limit := most + 1
	buf := make([]byte, 0, min(limit, max(size, 0)+1, MaxFileBytes+1))
	r = io.LimitReader(r, limit)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Open opens a regular file for reading. The caller closes it.
func (f *FS) Open(path string) (*os.File, fs.FileInfo, error) {
	p, err := f.locate(path)
	if err != nil {
		return nil, nil, err
	}
	if f, err = f.allowed(path); err != nil {
		return nil, nil, err
	}
	e, err := f.entryOf(p)
	if err != nil {
		return nil, nil, err
	}
	defer e.close()
	// Opening alone can do harm: it wakes whoever waits at a pipe, and starts some
	// devices. So look first; the look after it is the one that counts.
	info, err := e.dir.Stat(e.name)
	if err != nil {
		return nil, nil, f.wrap(path, err)
	}
	if err := regular(path, info); err != nil {
		return nil, nil, err
	}
	file, err := e.dir.OpenFile(e.name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, f.wrap(path, err)
	}
	if info, err = f.checkOpen(path, e, file); err != nil {
		_ = file.Close()
		return nil, nil, f.wrap(path, err)
	}
	return file, info, nil
}

// checkOpen looks at what was opened, which is what counts.
func (f *FS) checkOpen(path string, e entry, file *os.File) (fs.FileInfo, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	if kernelFile(file) {
		return nil, sayf(NotRegular, path, nil, "belongs to a file system of the kernel, which is never read")
	}
	if len(f.hide) == 0 && f.bound == nil {
		return info, nil
	}
	if e.held {
		// The name may have become a link that goes on below a hidden directory.
		if link, err := e.dir.Lstat(e.name); err != nil || !os.SameFile(link, info) {
			return nil, errSwapped
		}
	}
	if h := f.hiddenNow(); h.has(info) || h.links(info, f.hide) {
		return nil, errHidden(path)
	}
	return info, nil
}

// Stat describes what the path leads to, links followed. The name is that of the
// path's last element.
func (f *FS) Stat(path string) (fs.FileInfo, error) {
	p, err := f.locate(path)
	if err != nil {
		return nil, err
	}
	return f.stat(p)
}

// stat is Stat of a place.
func (f *FS) stat(p place) (fs.FileInfo, error) {
	e, err := f.entryOf(p)
	if err != nil {
		return nil, err
	}
	defer e.close()
	info, err := e.dir.Stat(e.name)
	if err == nil && e.held && f.hiddenNow().has(info) {
		return nil, errHidden(p.given)
	}
	return info, f.wrap(p.given, err)
}

// regular refuses what is no regular file.
func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &PathError{Kind: IsDir, Path: path}
	default:
		return sayf(NotRegular, path, nil, "is %s, and only regular files are opened", typeName(mode))
	}
}

// typeName is a file type in words.
func typeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "no regular file"
}
