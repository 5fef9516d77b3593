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

// punchHole frees the disk of the first n bytes of a file; they read as zeros.
func punchHole(f *os.File, n int64) error {
	if err := syscall.Fallocate(int(f.Fd()), fallocKeepSizePunchHole, 0, n); err != nil {
		return errors.Join(errNoHoles, err)
	}
	return nil
}
