package socket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"podd/internal/paths"
	"podd/pkg/item"
)

// restartUnits is how a socket of a service manager is made again.
const restartUnits = "systemctl --user restart podd.socket podd.service"

// Adopt takes a socket that a service manager made, listens at and passed on. It is held
// to what Listen holds its own to: a Unix socket at a path, in a private directory, for
// this user alone, of one podd. Adopt takes file, also on error.
//
// The socket stays the manager's: Close does not remove it, so that clients that come
// while no podd runs wait for the next one, and Heal cannot make it again.
func Adopt(file *os.File) (*Listener, error) {
	defer file.Close()
	path, err := AdoptedPath(file)
	if err != nil {
		return nil, err
	}
	if err := paths.EnsurePrivateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, gone(path)
	case err != nil:
		return nil, cannotListen(path, err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, replaced(path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, item.Errorf(item.KindPrecondition, "SOCKET_NOT_PRIVATE",
			"the socket %s that the service manager passed on is open to other users (mode %04o): set SocketMode=0600 in its unit", path, info.Mode().Perm())
	}
	lock, err := paths.LockSocket(path)
	if err != nil {
		return nil, err
	}
	made, err := net.FileListener(file)
	if err != nil {
		lock.Release()
		return nil, cannotListen(path, err)
	}
	l := &Listener{path: path, lock: lock, file: info, open: made.(*net.UnixListener), adopted: true}
	l.close = sync.OnceValue(l.closeNow)
	return l, nil
}

// AdoptedPath is where the socket lies that a service manager passed on; the error says
// why Adopt would not take it.
func AdoptedPath(file *os.File) (path string, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return "", err
	}
	if cerr := raw.Control(func(fd uintptr) { path, err = adoptedPath(int(fd), file.Name()) }); cerr != nil {
		return "", cerr
	}
	return path, err
}

func adoptedPath(fd int, called string) (string, error) {
	refuse := func(format string, args ...any) error {
		args = append([]any{called}, args...)
		return item.Errorf(item.KindPrecondition, "SOCKET_UNFIT", "the service manager passed on %q, "+format, args...)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return "", refuse("which is no socket (%v): let the unit have ListenStream= with a path", err)
	}
	address, ok := name.(*syscall.SockaddrUnix)
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if !ok || err != nil || kind != syscall.SOCK_STREAM {
		return "", refuse("which is no stream socket of the Unix kind: let the unit have ListenStream= with a path")
	}
	if !filepath.IsAbs(address.Name) {
		return "", refuse("a Unix socket without a path, which no directory protects: let the unit have ListenStream= with a path")
	}
	if listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || listens == 0 {
		return "", refuse("which does not listen: let the unit have Accept=no")
	}
	return address.Name, nil
}

func gone(path string) error {
	return item.Errorf(item.KindPrecondition, "SOCKET_GONE",
		"the socket %s was removed, new clients do not reach podd, and it is the service manager's to make: run %s", path, restartUnits)
}

func replaced(path string) error {
	return item.Errorf(item.KindPrecondition, "SOCKET_REPLACED",
		"something else lies at %s in the place of the service manager's socket, and new clients do not reach podd: remove it and run %s", path, restartUnits)
}
