//go:build !linux

package enter

import (
	"errors"
	"os"
)

// Start works only on Linux.
func Start(*Entry, []string, *os.File) (*os.Process, error) { return nil, errors.ErrUnsupported }

// Confined works only on Linux.
func Confined([]string, []*os.File, string, []string, *os.File) (*os.Process, error) {
	return nil, errors.ErrUnsupported
}

// Join does nothing here.
func Join(*os.File) {}
