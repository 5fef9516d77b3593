//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// openDir opens a directory. os.Open would first try whether it can be waited for, which takes
// five more system calls.
func openDir(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}
