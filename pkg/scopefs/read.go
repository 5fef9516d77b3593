package scopefs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// MaxFileBytes bounds what ReadFile reads of a whole file: 64 MiB.
const MaxFileBytes = 64 << 20

// File is a file that was read.
type File struct {
	// Path is the path to show: relative to the workspace if it is inside.
	Path string
	// Data is the beginning of the file, or all of it.
	Data []byte
	// Size is the size of the whole file in bytes, as of its opening.
	Size    int64
	ModTime time.Time
	// Truncated says that the file continues after Data.
	Truncated bool
}

// ReadFile reads at most most bytes of a regular file. A most of zero or less means the
// whole file, which is then TooLarge above MaxFileBytes.
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
			"has %d bytes, more than the %d that can be read at once: read a part of it", info.Size(), most)
	}
	return out, nil
}

// readUpTo reads most bytes and one more, which shows whether there is more. size is the
// expected size.
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
	// Opening alone can do harm: it wakes a process that waits at a pipe, and starts some
	// devices. So check first; the check after it is the decisive one.
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

// checkOpen checks the opened file, which is decisive.
func (f *FS) checkOpen(path string, e entry, file *os.File) (fs.FileInfo, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	if kernelFile(file) {
		return nil, sayf(NotRegular, path, nil, "is in a file system of the kernel, which tools cannot read")
	}
	if len(f.hide) == 0 && f.bound == nil {
		return info, nil
	}
	if e.held {
		// The name may have become a link to something below a hidden directory.
		if link, err := e.dir.Lstat(e.name); err != nil || !os.SameFile(link, info) {
			return nil, errSwapped
		}
	}
	if h := f.hiddenNow(); h.has(info) || h.links(info, f.hide) {
		return nil, errHidden(path)
	}
	return info, nil
}

// Stat describes the path's target, with links followed. The name is that of the path's
// last element.
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

// regular refuses anything but a regular file.
func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &PathError{Kind: IsDir, Path: path}
	default:
		return sayf(NotRegular, path, nil, "is %s; only regular files can be opened", typeName(mode))
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
	return "not a regular file"
}
