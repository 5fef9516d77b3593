package shell

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errNoHoles says that the disk space of an output over the quota cannot be released.
var errNoHoles = errors.New("the file system cannot free parts of a file")

// From linux/falloc.h and linux/fs.h.
const (
	fallocKeepSizePunchHole = 0x01 | 0x02
	seekData                = 3
)

// punchHole releases the disk space of a part of a file; it reads as zeros.
func punchHole(f *os.File, from, to int64) error {
	if to <= from {
		return nil
	}
	if err := syscall.Fallocate(int(f.Fd()), fallocKeepSizePunchHole, from, to-from); err != nil {
		return errors.Join(errNoHoles, err)
	}
	return nil
}

// readPlainly keeps the kernel from reading ahead. A command may reserve space and not write to it; once
// the kernel has read that space, it counts as data.
func readPlainly(f *os.File) {
	const random = 1 // POSIX_FADV_RANDOM
	_, _, _ = syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, random, 0, 0)
}

// dataFrom is the offset of the file's next data, starting at an offset: its end without
// further data, the offset itself if the file system doesn't know.
func dataFrom(f *os.File, offset int64) int64 {
	// The command appends, so the file's position is not used.
	next, err := f.Seek(offset, seekData)
	if errors.Is(err, syscall.ENXIO) {
		next, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return offset
	}
	return next
}
