package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"podd/pkg/item"
	"podd/pkg/socket"
	"podd/pkg/wire"
)

// dialer connects to podd and remembers the last error: gRPC passes on only its text.
type dialer struct {
	// socket names podd in errors.
	socket string
	// open makes a connection.
	open func(ctx context.Context) (net.Conn, error)
	// startFor is Config.StartFor; begun is when the first attempt started.
	startFor time.Duration

	mu    sync.Mutex
	begun time.Time
	// failed is why the last attempt failed, or nil.
	failed error
	// reached says that an attempt has ever succeeded.
	reached bool
}

// dial ignores the address that gRPC passes: there is only one socket.
func (d *dialer) dial(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := d.open(ctx)
	for d.starting(err) && pause(ctx, startPause) {
		conn, err = d.open(ctx)
	}
	if ctx.Err() != nil {
		return conn, err // closing, not a failure of podd
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = err
	d.reached = d.reached || err == nil
	return conn, err
}

// startPause is the pause between attempts to reach a podd that is starting.
const startPause = 25 * time.Millisecond

// starting says whether an attempt failed because podd may still be starting.
func (d *dialer) starting(err error) bool {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun.IsZero() {
		d.begun = time.Now()
	}
	return !d.reached && time.Since(d.begun) < d.startFor
}

// pause waits; false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// state says whether any attempt has ever succeeded, and the error of the last one.
func (d *dialer) state() (reached bool, failed error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reached, d.failed
}

// Dial opens podd's socket, as a Client does. It refuses a socket of another user, who must
// not get the client token or anything else meant for podd. An error is of kind unavailable
// and reason UNREACHABLE, or of kind denied.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreachable(path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return nil, unreachable(path, errNoSocket)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return nil, notOurs(path, int(stat.Uid))
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, unreachable(path, err)
	}
	if err := checkListener(conn, path); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkListener refuses a listener of another user, who may have replaced the socket since
// its owner was checked. Root is allowed: a service manager may have created the socket,
// and root has no need to impersonate podd.
func checkListener(conn net.Conn, path string) error {
	uid, err := socket.PeerUID(conn)
	if err == nil && (uid == os.Geteuid() || uid == 0) {
		return nil
	}
	if err != nil {
		return unreachable(path, err)
	}
	return notOurs(path, uid)
}

func notOurs(path string, uid int) error {
	return item.Errorf(item.KindDenied, "SOCKET_NOT_OURS",
		"the socket %s belongs to another user (uid %d); podd serves only the user who started it: start your own with `podd &`", path, uid)
}

var errNoSocket = errors.New("it is not a socket")

// unreachable says why podd cannot be reached at a socket, and how to start it.
func unreachable(socket string, cause error) error {
	var why string
	switch {
	case errors.Is(cause, fs.ErrPermission):
		return because(cause, item.KindDenied, "SOCKET_DENIED",
			"permission denied for the socket %s: check its owner and mode, and those of its directory", socket)
	case errors.Is(cause, fs.ErrNotExist):
		why = "the socket does not exist"
	case errors.Is(cause, syscall.ECONNREFUSED):
		why = "connection refused"
	case errors.Is(cause, errNoSocket):
		why = cause.Error()
	default:
		why = "the connection failed"
		if errno, ok := errors.AsType[syscall.Errno](cause); ok {
			why = errno.Error()
		}
	}
	return notReached(cause, fmt.Sprintf("cannot reach podd at %s (%s)", socket, why))
}

// notReached is the error of kind unavailable that says how to start podd.
func notReached(cause error, what string) error {
	return because(cause, item.KindUnavailable, wire.ReasonUnreachable,
		"%s: start it with `podd &`, or name a running podd's socket with --socket or PODD_SOCKET", what)
}
