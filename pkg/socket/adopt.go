package socket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// restartUnits makes the service manager create its socket again.
const restartUnits = "systemctl --user restart podd.socket podd.service"

// Adopt takes over a listening socket that a service manager created and passed to podd. It
// must meet the rules of Listen: a Unix socket at a path, in a private directory, for this
// user only, used by one podd. Adopt takes ownership of file, also on error.
//
// The socket stays the manager's: Close does not remove it, so that clients that connect
// while podd is down wait for the next one, and Heal cannot create it again.
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
			"the socket %s from the service manager is open to other users (mode %04o): set SocketMode=0600 in its unit", path, info.Mode().Perm())
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

// AdoptedPath is the path of a socket that a service manager passed to podd; the error says
// why Adopt would refuse it.
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
		return item.Errorf(item.KindPrecondition, "SOCKET_UNFIT", "the service manager passed %q, "+format, args...)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return "", refuse("which is not a socket (%v): set ListenStream= to a path in its unit", err)
	}
	address, ok := name.(*syscall.SockaddrUnix)
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if !ok || err != nil || kind != syscall.SOCK_STREAM {
		return "", refuse("which is not a Unix stream socket: set ListenStream= to a path in its unit")
	}
	if !filepath.IsAbs(address.Name) {
		return "", refuse("a Unix socket without a path, which no directory protects: set ListenStream= to a path in its unit")
	}
	if listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || listens == 0 {
		return "", refuse("which does not listen: set Accept=no in its unit")
	}
	return address.Name, nil
}

func gone(path string) error {
	return item.Errorf(item.KindPrecondition, "SOCKET_GONE",
		"the service manager's socket %s was removed, so new clients cannot reach podd: run %s", path, restartUnits)
}

func replaced(path string) error {
	return item.Errorf(item.KindPrecondition, "SOCKET_REPLACED",
		"the service manager's socket %s was replaced by another file, so new clients cannot reach podd: remove the file and run %s", path, restartUnits)
}
