// Package socket owns the Unix socket that podd listens on: it is private, it
// belongs to one podd, and it is never taken from a program that answers.
//
// Rank 2: it imports pkg/item and internal/paths.
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

	"podd/internal/paths"
	"podd/pkg/item"
)

// dialTimeout bounds the question whether a program answers at the path. A
// connect to a Unix socket succeeds or fails at once.
const dialTimeout = 2 * time.Second

// Listener is podd's socket. It is a net.Listener for any server to use; Close may
// be called more than once and from any goroutine.
type Listener struct {
	path  string
	lock  *paths.Lock
	close func() error
	// adopted says that the socket is a service manager's.
	adopted bool

	// changing is held by Heal and Close: file is the socket's inode as it was made.
	changing sync.Mutex
	file     fs.FileInfo
	closed   bool

	// mu guards open.
	mu   sync.Mutex
	open *net.UnixListener
}

// Listen makes the directory of path private (paths.EnsurePrivateDir), takes the
// lock beside path and listens there, with mode 0600. A socket that an ended
// process left behind is replaced.
//
// Errors are item.Errors: what paths finds wrong with the path, the directory or
// the lock; reason SOCKET_IN_USE when a program answers at the path; reason
// NOT_A_SOCKET when something else lies there.
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
	// Closing must not remove what another program put in its place.
	l.open.SetUnlinkOnClose(false)
	// Until here the directory alone protects it.
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
			"%s is there and is no socket: move it away, or choose another path with --socket", path)
	}
	if err := dialSoon(ctx, path); !errors.Is(err, syscall.ECONNREFUSED) {
		if err != nil {
			return cannotListen(path, err)
		}
		return item.Errorf(item.KindPrecondition, "SOCKET_IN_USE",
			"another program listens at %s: stop it, or choose another path with --socket", path)
	}
	if err := os.Remove(path); err != nil {
		return cannotListen(path, err)
	}
	return nil
}

// How long a program that answers is waited for to go, and how often it is asked. A podd
// that is killed while it starts a command leaves its socket to that child, as it does its
// locks, and the child gives them up one after the other.
const (
	goPatience = 500 * time.Millisecond
	goPoll     = 10 * time.Millisecond
)

// dialSoon is dial once it refuses, or when it has not for long.
func dialSoon(ctx context.Context, path string) error {
	for since := time.Now(); ; time.Sleep(goPoll) {
		if err := dial(ctx, path); err != nil || time.Since(since) > goPatience {
			return err
		}
	}
}

// dial is nil when a program listens at path, whether it accepts or is too busy to.
func dial(ctx context.Context, path string) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, syscall.EAGAIN):
		// Linux says so when the queue of waiting connections is full.
		return nil
	}
	return err
}

func cannotListen(path string, err error) error {
	e := item.Errorf(item.KindPrecondition, "LISTEN", "podd cannot listen at %s (%v): choose another path with --socket", path, err)
	e.Cause = err
	return e
}

// Addr is the socket's address.
func (l *Listener) Addr() net.Addr { return l.now().Addr() }

// Path is where the socket lies.
func (l *Listener) Path() string { return l.path }

// Close stops listening, removes the socket if it is still this one and podd's own, and
// gives its lock free. Later calls return what the first did.
func (l *Listener) Close() error { return l.close() }

func (l *Listener) closeNow() error {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.closed = true
	var removed error
	// While the socket is open its inode's number is not given to another file.
	if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.file) && !l.adopted {
		removed = os.Remove(l.path)
	}
	err := errors.Join(removed, l.open.Close())
	l.lock.Release()
	return err
}
