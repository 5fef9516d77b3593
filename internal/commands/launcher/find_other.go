//go:build !linux

package launcher

import (
	"context"
	"os"
)

// Launcher is nil here: this process's own binary starts commands.
type Launcher struct{}

// Find finds none here.
func Find(context.Context) (*Launcher, error) { return nil, nil }

// Open opens none here.
func Open(context.Context, string) (*Launcher, error) { return nil, nil }

// Path is that of this process's binary.
func (*Launcher) Path() (path string, own bool) {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0], true
	}
	return path, true
}

// Close does nothing here.
func (*Launcher) Close() {}
