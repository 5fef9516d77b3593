package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"podd/internal/commands/launcher"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// ChildVerb is the first argument of a child; its program calls Child.
const ChildVerb = "web-child"

const (
	// startPause is the time between a child's end and the next one, and startTries how many
	// that never served are enough.
	startPause = 100 * time.Millisecond
	startTries = 3
	// helloTime is how long a child may take to serve, endTime how long to end.
	helloTime = time.Minute
	endTime   = 5 * time.Second
)

// Parent serves the page by a child, which alone reads what browsers send. The child has the
// listener and no more: no file, no environment, no other process. The parent dials podd
// for it and starts another one when it ends.
type Parent struct {
	Listener *net.TCPListener
	// Origin is where the page is: scheme, host and port, as browsers write it.
	Origin string
	// Socket is the path of podd's socket for podd web.
	Socket string
	// Certificate is nil for a page without TLS.
	Certificate *Certificate
	// Tell is told how a child is confined when it serves.
	Tell func(confinement string) error
	// Log gets sentences for the person who runs podd web.
	Log func(sentence string)
}

// Serve serves until ctx ends, and then ends the child and waits for it.
func (p Parent) Serve(ctx context.Context) error {
	// The kernel ends a child with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for failed := 0; ctx.Err() == nil; {
		c := &child{Parent: p}
		err := c.run(ctx)
		switch {
		case ctx.Err() != nil || c.renewed:
			continue
		case c.served:
			failed = 0
			p.Log(fmt.Sprintf("the process that reads requests ended (%v): starting another", err))
		case failed == startTries-1 || c.problem != nil:
			return errors.Join(c.problem, err)
		default:
			failed++
		}
		pause(ctx, startPause)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// child is one process. Its fields are those of run until run returns.
type child struct {
	Parent
	control *net.UnixConn
	// served says that it has begun to, renewed that it ended for another certificate.
	served, renewed bool
	// problem is why no other child would do better.
	problem error
}

// run starts the process and waits for its end, which the end of ctx causes.
func (c *child) run(ctx context.Context) error {
	running, end := context.WithCancel(ctx)
	defer end()
	says, said := io.Pipe()
	cmd, err := c.command(running, said)
	if err != nil {
		c.problem = err
		return nil
	}
	var work sync.WaitGroup
	work.Go(func() { c.repeat(says) })
	work.Go(func() {
		defer end()
		c.problem = c.answer(running)
	})
	if c.Certificate != nil {
		work.Go(func() {
			if c.renewed = c.Certificate.await(running, c.Log); c.renewed {
				end()
			}
		})
	}
	err = cmd.Wait()
	end()
	_, _ = c.control.Close(), said.Close()
	work.Wait()
	return err
}

// command starts the process, whose errors go to said, and makes the way to it.
func (c *child) command(ctx context.Context, said io.Writer) (*exec.Cmd, error) {
	cannot := func(err error) error {
		e := item.Errorf(item.KindPrecondition, "WEB_CHILD", "cannot start the process that reads requests: %v", err)
		e.Cause = err
		return e
	}
	listener, err := c.Listener.File()
	if err != nil {
		return nil, cannot(err)
	}
	defer listener.Close()
	there, err := c.connect()
	if err != nil {
		return nil, cannot(err)
	}
	defer there.Close()
	self, _ := (*launcher.Launcher)(nil).Path()
	argv, files, done, err := confinedCommand(self)
	if err != nil {
		return nil, cannot(err)
	}
	defer done()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// It inherits nothing: this process may have keys in its environment.
	cmd.Env, cmd.Dir, cmd.ExtraFiles, cmd.SysProcAttr = []string{}, "/", files, attributes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = listener, there, said
	cmd.WaitDelay = endTime
	// It ends by itself when nothing more can come; after endTime it is killed.
	cmd.Cancel = func() error { return c.control.CloseWrite() }
	if err := cmd.Start(); err != nil {
		_ = c.control.Close()
		return nil, cannot(err)
	}
	return cmd, nil
}

// connect makes the way to a child; there is its end.
func (c *child) connect() (there *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	here, there := os.NewFile(uintptr(fds[0]), "child"), os.NewFile(uintptr(fds[1]), "parent") //nolint:gosec // Descriptors.
	defer here.Close()
	conn, err := net.FileConn(here)
	if err != nil {
		return nil, errors.Join(err, there.Close())
	}
	c.control = conn.(*net.UnixConn)
	return there, nil
}

// confinement says how a child is confined; it begins with "no" if it is not. unfiltered is why
// it has no filter of system calls.
func confinement(landlocked bool, unfiltered string) string {
	switch {
	case landlocked && unfiltered == "":
		return "by Landlock and a filter of system calls"
	case landlocked:
		return "by Landlock alone: " + unfiltered
	case unfiltered == "":
		return "by a filter of system calls alone: this kernel has no Landlock, which Linux 6.2 has"
	}
	return "no: " + unfiltered
}

// repeat passes on what the child says, such as why it could not be confined.
func (c *child) repeat(says io.Reader) {
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		c.Log(sanitize.Line(lines.Text()))
	}
	_, _ = io.Copy(io.Discard, says)
}

// answer tells the child what it needs, and dials podd for it until it ends. The error says
// that no other child would do better.
func (c *child) answer(ctx context.Context) error {
	s := setup{Origin: c.Origin}
	if c.Certificate != nil {
		s.pair = c.Certificate.pair
	}
	var h hello
	_ = c.control.SetDeadline(time.Now().Add(helloTime))
	if writeFrame(c.control, s) != nil || readFrame(c.control, &h) != nil {
		return nil
	}
	_ = c.control.SetDeadline(time.Time{})
	if err := c.Tell(confinement(landlocked(), h.Unfiltered)); err != nil {
		return err
	}
	c.served = true
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(c.control, one); err != nil || c.dial(ctx) != nil {
			return nil
		}
	}
}

// dial gives the child a connection to podd, or the word that there is none.
func (c *child) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, retryMost)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", c.Socket)
	if err != nil {
		_, err = c.control.Write([]byte{notConnected})
		return err
	}
	defer conn.Close()
	file, err := conn.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	defer file.Close()
	_, _, err = c.control.WriteMsgUnix([]byte{connected}, syscall.UnixRights(int(file.Fd())), nil)
	return err
}
