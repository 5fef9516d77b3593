package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// Accept waits for the next connection. It keeps waiting while Heal recreates the socket,
// and returns net.ErrClosed after Close.
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

// Heal recreates the socket if its file is gone, because a cleaner of temporary files or a
// person removed it; healed says that it did. Another file at the path is not ours to
// remove: the error then has the reason SOCKET_REPLACED. Open connections stay. An adopted
// socket is not recreated: reason SOCKET_GONE. After Close, Heal does nothing.
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
			"podd's socket %s was replaced by another file, so new clients cannot reach podd: remove the file, and podd recreates its socket", l.path)
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
	// Accept continues with the new one.
	return true, old.Close()
}

// What is at the socket's path.
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

// now is the socket that Accept uses.
func (l *Listener) now() *net.UnixListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}
