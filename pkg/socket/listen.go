// Package socket owns the Unix socket that podd listens on: it is private, belongs to one
// podd, and is never taken away from a program that answers on it.
//
// Rank 2: it imports pkg/item and pkg/paths.
package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// dialTimeout bounds the check whether a program answers at the path. A connect to a Unix
// socket succeeds or fails at once.
const dialTimeout = 2 * time.Second

// Listener is podd's socket. It is a net.Listener for any server to use; Close may
// be called more than once and from any goroutine.
type Listener struct {
	path  string
	lock  *paths.Lock
	close func() error
	// adopted says that the socket belongs to a service manager.
	adopted bool

	// changing is held by Heal and Close. file is the inode of the socket that podd created.
	changing sync.Mutex
	file     fs.FileInfo
	closed   bool

	// mu guards open.
	mu   sync.Mutex
	open *net.UnixListener
}

// Listen ensures that the directory of path is private (paths.EnsurePrivateDir), takes the
// lock next to path and listens there, with mode 0600. It replaces a socket that an ended
// process left behind.
//
// Errors are item.Errors: those of package paths about the path, the directory or the lock;
// reason SOCKET_IN_USE if a program answers at the path; reason NOT_A_SOCKET if something
// else is there.
func Listen(ctx context.Context, path string) (*Listener, error) {
	if err := paths.CheckSocketLength(path); err != nil {
		return nil, err
	}
	if err := paths.EnsurePrivateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := paths.LockSocket(path)
	if err != nil {
		return nil, err
	}
	l, err := listenLocked(ctx, path)
	if err != nil {
		lock.Release()
		return nil, err
	}
	l.lock = lock
	l.close = sync.OnceValue(l.closeNow)
	return l, nil
}

// listenLocked listens while the caller holds the path's lock.
func listenLocked(ctx context.Context, path string) (*Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	made, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, cannotListen(path, err)
	}
	l := &Listener{open: made.(*net.UnixListener), path: path}
	// Closing must not remove another program's file at the path.
	l.open.SetUnlinkOnClose(false)
	// Until here only the directory protects it.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(cannotListen(path, err), l.open.Close())
	}
	if l.file, err = os.Lstat(path); err != nil {
		return nil, errors.Join(cannotListen(path, err), l.open.Close())
	}
	return l, nil
}

// removeStale removes a socket at path that refuses connections, and nothing else.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cannotListen(path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return item.Errorf(item.KindPrecondition, "NOT_A_SOCKET",
			"%s exists and is not a socket: move it away, or choose another path with --socket", path)
	}
	if err := dialSoon(ctx, path); !errors.Is(err, syscall.ECONNREFUSED) {
		if err != nil {
			return cannotListen(path, err)
		}
		return item.Errorf(item.KindPrecondition, "SOCKET_IN_USE",
			"another program is listening on %s: stop it, or choose another path with --socket", path)
	}
	if err := os.Remove(path); err != nil {
		return cannotListen(path, err)
	}
	return nil
}

// How long to wait for a program that answers to go away, and how often to check. If podd
// is killed while it starts a command, the child keeps its socket and its locks, and
// releases them one after the other.
const (
	goPatience = 500 * time.Millisecond
	goPoll     = 10 * time.Millisecond
)

// dialSoon is the result of dial once that fails, or after a while.
func dialSoon(ctx context.Context, path string) error {
	for since := time.Now(); ; time.Sleep(goPoll) {
		if err := dial(ctx, path); err != nil || time.Since(since) > goPatience {
			return err
		}
	}
}

// dial is nil if a program listens at path, even if it is too busy to accept.
func dial(ctx context.Context, path string) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, syscall.EAGAIN):
		// Linux returns this when the queue of waiting connections is full.
		return nil
	}
	return err
}

func cannotListen(path string, err error) error {
	e := item.Errorf(item.KindPrecondition, "LISTEN", "cannot listen on %s (%v): choose another path with --socket", path, err)
	e.Cause = err
	return e
}

// Addr is the socket's address.
func (l *Listener) Addr() net.Addr { return l.now().Addr() }

// Path is the path of the socket.
func (l *Listener) Path() string { return l.path }

// Close stops listening, removes the socket unless it was replaced or adopted, and releases
// its lock. Later calls return what the first one did.
func (l *Listener) Close() error { return l.close() }

func (l *Listener) closeNow() error {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.closed = true
	var removed error
	// While the socket is open, its inode number is not reused.
	if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.file) && !l.adopted {
		removed = os.Remove(l.path)
	}
	err := errors.Join(removed, l.open.Close())
	l.lock.Release()
	return err
}
