package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"podd/pkg/item"
	"podd/pkg/wire"
)

// Remote makes connections to the podd of a host. Its methods may be called from any
// goroutine.
type Remote struct {
	host Host

	mu sync.Mutex
	// spare is a connection that Token made before any was asked for.
	spare net.Conn
	// greeted says that a connection has set token.
	greeted bool
	token   string
}

// New makes a Remote; it connects to nothing. Close it after use.
func New(h Host) *Remote { return &Remote{host: h} }

// Dial connects. ctx bounds the connecting, not the connection.
func (r *Remote) Dial(ctx context.Context) (net.Conn, error) {
	r.mu.Lock()
	conn := r.spare
	r.spare = nil
	r.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	conn, token, err := r.host.dial(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token, r.greeted = token, true
	return conn, nil
}

// Token is the client token of the last connection; "" if podctl cannot read it there.
// Without a connection, Token makes the one that Dial returns next.
func (r *Remote) Token(ctx context.Context) (string, error) {
	r.mu.Lock()
	token, greeted := r.token, r.greeted
	r.mu.Unlock()
	if greeted {
		return token, nil
	}
	conn, err := r.Dial(ctx)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	token, conn, r.spare = r.token, r.spare, conn
	r.mu.Unlock()
	return token, shut(conn)
}

// Close closes what Dial has not returned.
func (r *Remote) Close() error {
	r.mu.Lock()
	conn := r.spare
	r.spare = nil
	r.mu.Unlock()
	return shut(conn)
}

func shut(conn net.Conn) error {
	if conn == nil {
		return nil
	}
	return conn.Close()
}

// dial starts ssh and reads the greeting. Forwardings that the user's configuration names are
// not for podd.
func (h Host) dial(ctx context.Context) (net.Conn, string, error) {
	c, token, err := h.greet(ctx, "-o", "ClearAllForwardings=yes")
	if err != nil {
		return nil, "", err
	}
	return c, token, nil
}

// greet starts ssh with options about forwardings and reads the greeting.
func (h Host) greet(ctx context.Context, forwardings ...string) (*connection, string, error) {
	c, err := h.start(h.arguments(forwardings...))
	if err != nil {
		return nil, "", h.unreachable(err, "ssh cannot be started: "+reason(err))
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	g, err := readGreeting(c)
	if !stop() {
		_ = c.Close() // It waits for the one that has begun.
		return nil, "", h.unreachable(ctx.Err(), "it did not answer in time: see whether `"+h.command()+"` works")
	}
	if err != nil {
		return nil, "", h.unreachable(err, h.remedy(c.why()))
	}
	if g.Error != nil {
		refused := item.Errorf(g.Error.Kind, g.Error.Reason, "on %s: %s", h, g.Error.Message)
		return nil, "", errors.Join(refused, c.Close())
	}
	return c, g.Token, nil
}

func (h Host) unreachable(cause error, why string) error {
	e := item.Errorf(item.KindUnavailable, wire.ReasonUnreachable, "cannot reach podd on %s: %s", h, why)
	e.Cause = cause
	return e
}

// remedy is what to do about the end of ssh, and then what ssh said.
func (h Host) remedy(said string, code int) string {
	do := "see what `" + h.command() + " podctl dial-stdio` says"
	switch {
	case strings.Contains(said, "Host key verification failed"):
		do = "run `" + h.command() + "` at a terminal to check the key of that machine"
	case strings.Contains(said, "Permission denied ("):
		do = "ssh can ask for no password here: load a key with ssh-add until `" + h.command() + "` asks nothing"
	case code == 255: // ssh's own.
		do = "see whether `" + h.command() + "` works"
	case code == 127: // A shell's, for a program that it does not find.
		do = "install podctl there, on the PATH that `" + h.command() + "` has"
	}
	return do + " (" + said + ")"
}

func reason(err error) string {
	if errors.Is(err, exec.ErrNotFound) {
		return "install it here, or put it on the PATH"
	}
	return err.Error()
}

// connection is one end of a pair of sockets; ssh's input and output is the other.
type connection struct {
	net.Conn
	command *exec.Cmd
	said    *lastLine
	// ended is closed when ssh has ended.
	ended chan struct{}
}

// start runs ssh in a session of its own, so that a Ctrl-C at the terminal interrupts podctl
// only, which may have something to say to podd first. So ssh has no terminal to ask for a
// password.
func (h Host) start(arguments []string) (*connection, error) {
	here, there, err := pair()
	if err != nil {
		return nil, err
	}
	defer there.Close()
	defer here.Close() // FileConn copies it.
	conn, err := net.FileConn(here)
	if err != nil {
		return nil, fmt.Errorf("make a connection for ssh: %w", err)
	}
	c := &connection{Conn: conn, command: exec.Command("ssh", arguments...), said: &lastLine{}, ended: make(chan struct{})}
	c.command.Stdin, c.command.Stdout, c.command.Stderr = there, there, c.said
	c.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// A process that ssh left behind, such as a shared connection, may keep standard error.
	c.command.WaitDelay = waitDelay
	if err := c.command.Start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go func() {
		defer close(c.ended)
		_ = c.command.Wait() // why tells how it ended.
	}()
	return c, nil
}

// Close ends ssh, and waits for that.
func (c *connection) Close() error {
	err := c.Conn.Close()
	if killed := c.command.Process.Signal(syscall.SIGTERM); killed != nil && !errors.Is(killed, os.ErrProcessDone) {
		err = errors.Join(err, killed)
	}
	<-c.ended
	if err != nil {
		return fmt.Errorf("end ssh: %w", err)
	}
	return nil
}

// why is what ssh, or podctl over there, tells about its end, and its exit code. It ends ssh.
func (c *connection) why() (said string, code int) {
	_ = c.Conn.Close()
	select {
	case <-c.ended:
	case <-time.After(waitDelay):
		_ = c.Close()
	}
	if said = c.said.text(); said == "" {
		said = "ssh ended without a word: " + c.command.ProcessState.String()
	}
	return said, c.command.ProcessState.ExitCode()
}

// pair makes two connected sockets that no program inherits by accident.
func pair() (here, there *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a connection for ssh: %w", err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "podctl"), os.NewFile(uintptr(fds[1]), "ssh"), nil
}
