package builtin

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errNoHoles says that the disk of an output over the quota cannot be given back.
var errNoHoles = errors.New("the file system cannot free parts of a file")

// From linux/falloc.h and linux/fs.h.
const (
	fallocKeepSizePunchHole = 0x01 | 0x02
	seekData                = 3
)

// punchHole frees the disk of a part of a file; it reads as zeros.
func punchHole(f *os.File, from, to int64) error {
	if to <= from {
		return nil
	}
	if err := syscall.Fallocate(int(f.Fd()), fallocKeepSizePunchHole, from, to-from); err != nil {
		return errors.Join(errNoHoles, err)
	}
	return nil
}

// dataFrom is where the next data of a file lies, from an offset on: its end when there is
// none, the offset where the file system doesn't know.
func dataFrom(f *os.File, offset int64) int64 {
	// The command appends, so that the place in the file is nobody's.
	next, err := f.Seek(offset, seekData)
	if errors.Is(err, syscall.ENXIO) {
		next, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return offset
	}
	return next
}
