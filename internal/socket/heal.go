package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"podd/internal/paths"
	"podd/pkg/item"
)

// Accept waits for the next connection. It goes on while Heal makes the socket anew, and
// ends with net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		open := l.now()
		conn, err := open.AcceptUnix()
		if err == nil {
			return conn, nil
		}
		if l.now() == open {
			return nil, err
		}
	}
}

// Heal makes the socket again when its file is gone: a cleaner of temporary files took
// it, or a person did. healed says that it did. What else lies at the path is not ours to
// remove: then the error, reason SOCKET_REPLACED, says so. Connections that are open
// stay. A socket that was adopted is not made again: reason SOCKET_GONE. After Close it
// does nothing.
func (l *Listener) Heal(ctx context.Context) (healed bool, err error) {
	l.changing.Lock()
	defer l.changing.Unlock()
	if l.closed {
		return false, nil
	}
	switch lies, err := l.lies(); {
	case err != nil:
		return false, cannotListen(l.path, err)
	case lies == ours:
		return false, nil
	case l.adopted && lies == nothing:
		return false, gone(l.path)
	case l.adopted:
		return false, replaced(l.path)
	case lies == others:
		return false, item.Errorf(item.KindPrecondition, "SOCKET_REPLACED",
			"something else lies at %s in the place of podd's socket, and new clients do not reach podd: remove it, and podd makes its socket again", l.path)
	}
	if err := paths.EnsurePrivateDir(filepath.Dir(l.path)); err != nil {
		return false, err
	}
	made, err := listenLocked(ctx, l.path)
	if err != nil {
		return false, err
	}
	l.file = made.file
	l.mu.Lock()
	old := l.open
	l.open = made.open
	l.mu.Unlock()
	// Accept goes on with the new one.
	return true, old.Close()
}

// What lies at the socket's path.
const (
	nothing = iota
	ours
	others
)

func (l *Listener) lies() (int, error) {
	info, err := os.Lstat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nothing, nil
	case err != nil:
		return nothing, err
	case os.SameFile(info, l.file):
		return ours, nil
	}
	return others, nil
}

// now is the socket that is accepted from.
func (l *Listener) now() *net.UnixListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}
