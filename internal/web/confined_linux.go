package web

import (
	"os"
	"syscall"

	"podd/internal/commands/confine"
)

// libraries are what a child that is not static needs to start. The filter of system calls,
// which it gets then, opens none of them.
var libraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/nix/store", "/gnu/store"}

// confinedCommand is the command line of a child, with its files; done closes them. Landlock
// confines the child from its first instruction on, where the kernel has it.
func confinedCommand(self string) (argv []string, files []*os.File, done func(), err error) {
	argv = []string{self, ChildVerb}
	if !landlocked() {
		return argv, nil, func() {}, nil
	}
	file, err := os.Open(self)
	if err != nil {
		return nil, nil, nil, err
	}
	// The program itself is its descriptor 3 until it executes.
	rules := confine.Rules{Read: libraries, ReadOpen: []string{"3"}, Filter: confine.AllowNothing}
	return rules.Command(self, argv), []*os.File{file}, func() { _ = file.Close() }, nil
}

// landlocked says whether Landlock confines children. What applies it needs a filter too.
func landlocked() bool {
	_, err := confine.AllowNothing.Program()
	return err == nil && confine.Version() >= confine.MinVersion
}

// attributes have the kernel end a child with its parent. A child has no terminal's signals.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
