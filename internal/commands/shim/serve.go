package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/internal/guard/harden"
)

// argument makes a program that calls Main a shim, whose connection is descriptor 3. The next argument
// is its limits, as JSON.
const argument = "__shim"

// networkStarted is the last argument of a keeper whose network is there.
const networkStarted = "network"

// gcPercent is how much garbage a shim may have, in percent of what it uses; Go collects none
// below 1 MiB then.
const gcPercent = 25

// hasMain says that this binary calls Main.
var hasMain atomic.Bool

// Main runs a shim if this process was started as one, and then does not return. Call it
// first in main, after sandbox.Main.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != argument {
		hasMain.Store(true)
		return
	}
	// The shim ignores signals: it ends with its last command. It registers for them instead
	// of ignoring them, because its commands would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	// The limits of the shim apply to everything that it starts. A process that denies
	// others access cannot change its own OOM score, so this comes first. If the system
	// refuses, commands run without limits.
	var told setup
	if json.Unmarshal([]byte(os.Args[2]), &told) != nil {
		refuse()
	}
	if told.Network && os.Args[len(os.Args)-1] != networkStarted {
		// Without it podd gets no hello.
		_ = startNetwork(2)
		syscall.Exit(1)
	}
	group := told.Limits.Group
	s := &server{around: surround(&told.Limits)}
	_ = told.Limits.Apply(os.Getpid())
	// Otherwise Linux uses the name of the file, which is exe.
	_ = os.WriteFile("/proc/self/comm", []byte("podd-shim"), 0)
	// The environments of commands may contain secrets.
	_ = harden.Process()
	// It keeps little, so the garbage of many commands would be most of its memory.
	debug.SetGCPercent(gcPercent)
	conn, err := connection(os.NewFile(3, "podd"))
	if err != nil {
		refuse()
	}
	process.KeepThreads(group)
	if told.Keeps {
		s.keep(conn, told.Network)
	} else {
		s.serve(conn)
	}
	// Under the race detector os.Exit takes a second, in which podd would wait.
	syscall.Exit(0)
}

// refuse is for a shim that a person started. The output of any other shim is not shown.
func refuse() {
	fmt.Fprintln(os.Stderr, "podd: what starts commands is started by podd alone")
	os.Exit(1)
}

// connection makes a connection of one end of a socket pair.
func connection(file *os.File) (*net.UnixConn, error) {
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}

// server is what a shim has.
type server struct {
	around *surroundings
	// terminals are those of commands that run, by the marks of their trees.
	terminals sync.Map

	mu sync.Mutex
	// open counts the connections of a keeper; closed says that it takes no more.
	open   int
	closed bool
}

// keep serves the first connection and later ones, until no connection is left
// and the commands of all have ended.
func (s *server) keep(first *net.UnixConn, network bool) {
	file := os.NewFile(4, "socket")
	l, err := net.FileListener(file)
	_ = file.Close()
	if err != nil {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	conn := net.Conn(first)
	for {
		if s.enter() {
			all.Go(func() {
				defer s.leave(l)
				if json.NewEncoder(conn).Encode(hello{Protocol: protocol, Network: network}) == nil {
					s.serve(conn.(*net.UnixConn))
				}
			})
		} else {
			_ = conn.Close()
		}
		if conn, err = l.Accept(); err != nil {
			return
		}
	}
}

// enter counts a connection, unless the last one has been left.
func (s *server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open++
	}
	return !s.closed
}

// leave ends a keeper with its last connection.
func (s *server) leave(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open == 0 {
		s.closed = true
		_ = l.Close()
	}
}

// serve starts commands on request until the other end closes, and then waits for all
// commands to end.
func (s *server) serve(conn *net.UnixConn) {
	defer conn.Close()
	var (
		commands sync.WaitGroup
		mu       sync.Mutex
		encoder  = json.NewEncoder(conn)
	)
	defer commands.Wait()
	// If podd is gone, it cannot read this; the record has what the next podd needs.
	tell := func(a answer) {
		mu.Lock()
		defer mu.Unlock()
		_ = encoder.Encode(a)
	}
	for n := uint64(1); ; n++ {
		r, err := receive(conn)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				// podd uses another shim from now on, and watches the running commands itself.
				_ = conn.Close()
			}
			return
		}
		// Each command starts in its own goroutine: an unreachable directory may block a start
		// for a long time.
		commands.Go(func() {
			if r.mark != "" {
				tell(s.input(n, r))
			} else {
				s.serveOne(n, r, tell)
			}
		})
	}
}

// serveOne starts the n-th command and waits for its end.
func (s *server) serveOne(n uint64, r asked, tell func(answer)) {
	c := r.Command
	var child started
	watch, err := watchOf(r.lease)
	if err == nil {
		defer watch.close()
		child, err = s.around.start(c)
	} else {
		c.Record.Close()
	}
	t := child.terminal
	closeAll(c.Files)
	if t == nil {
		_ = c.Output.Close()
	}
	if err != nil {
		tell(answer{Number: n, Error: err.Error(), Lost: errors.Is(err, ErrLost)})
		return
	}
	id := child.ID()
	if t != nil {
		s.terminals.Store(id.Mark, t)
		defer s.terminals.Delete(id.Mark)
	}
	tell(answer{Number: n, Process: &id})
	tell(answer{Number: n, Ended: true, Status: end(child.Tree, t, c.Record, watch.Watch)})
}

// watch is that of a command's lease; empty without one.
type watch struct {
	*lease.Watch
	lease *lease.Lease
}

// watchOf takes the file of a lease, if there is one; the lease must last.
func watchOf(file *os.File) (w watch, err error) {
	if file == nil {
		return w, nil
	}
	if w.lease, err = lease.Of(file); err != nil {
		return w, err
	}
	if w.Watch, err = w.lease.Watch(); err != nil {
		w.lease.Close()
	}
	return w, err
}

func (w watch) close() {
	if w.Watch != nil {
		w.Watch.Close()
		w.lease.Close()
	}
}

// input types the input of the n-th request.
func (s *server) input(n uint64, r asked) answer {
	t, ok := s.terminals.Load(r.mark)
	if !ok {
		return answer{Number: n, Error: errNoInput.Error()}
	}
	err := t.(*terminal).write(r)
	if errors.Is(err, ErrUntyped) {
		return answer{Number: n, Untyped: true}
	}
	if short, ok := errors.AsType[*ShortInputError](err); ok {
		return answer{Number: n, Short: true, Written: short.Written}
	}
	if err != nil {
		return answer{Number: n, Error: errNoInput.Error()}
	}
	return answer{Number: n}
}
