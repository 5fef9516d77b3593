package builtin

import (
	"errors"
	"os"
	"syscall"
)

// errNoHoles says that the disk of an output over the quota cannot be given back.
var errNoHoles = errors.New("the file system cannot free parts of a file")

// From linux/falloc.h.
const fallocKeepSizePunchHole = 0x01 | 0x02

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
