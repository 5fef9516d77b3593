//go:build !linux

package web

import (
	"os"
	"syscall"
)

// confinedCommand is the command line of a child, which nothing confines here.
func confinedCommand(self string) (argv []string, files []*os.File, done func(), err error) {
	return []string{self, ChildVerb}, nil, func() {}, nil
}

// attributes keep a terminal's signals from a child.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// landlocked says that nothing confines children here.
func landlocked() bool { return false }
