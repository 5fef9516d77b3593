package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"podd/internal/commands/process"
	"podd/internal/guard/harden"
)

// argument makes this binary a shim, whose connection is descriptor 3. Behind it stand
// its limits, as JSON.
const argument = "__shim"

// hasMain says that this binary calls Main.
var hasMain atomic.Bool

// Main is a shim, when this process was started as such; it does not return then. It
// comes first in main, behind sandbox.Main.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != argument {
		hasMain.Store(true)
		return
	}
	// It ends with its last command, whoever asks it to. Signals that are ignored for good
	// would be so for its commands too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	// What bounds it bounds all that it starts. A process that is closed to others cannot
	// change its own OOM score, so this comes before that. Where the system refuses,
	// commands run without.
	var limits process.Limits
	if json.Unmarshal([]byte(os.Args[2]), &limits) != nil {
		refuse()
	}
	_ = limits.Apply(os.Getpid())
	// Linux has the name of the file otherwise, which is exe.
	_ = os.WriteFile("/proc/self/comm", []byte("podd-shim"), 0)
	// The environments of commands may have secrets.
	_ = harden.Process()
	conn, err := connection(os.NewFile(3, "podd"))
	if err != nil {
		refuse()
	}
	serve(conn)
	// os.Exit takes a second under the race detector, in which podd would wait.
	syscall.Exit(0)
}

// refuse is for a shim that a person has started. Nobody sees what another one says.
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

// serve starts what it is asked to until the other end is closed, and then waits for the
// end of all commands.
func serve(conn *net.UnixConn) {
	defer conn.Close()
	var (
		commands sync.WaitGroup
		mu       sync.Mutex
		encoder  = json.NewEncoder(conn)
	)
	defer commands.Wait()
	// A podd that is gone hears nothing; what matters to the next one is in the record.
	tell := func(a answer) {
		mu.Lock()
		defer mu.Unlock()
		_ = encoder.Encode(a)
	}
	for n := uint64(1); ; n++ {
		c, err := receive(conn)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				// Podd asks another one. It watches what runs here by itself.
				_ = conn.Close()
			}
			return
		}
		// Beside the others: a directory that cannot be reached may hold up a start for long.
		commands.Go(func() { serveOne(n, c, tell) })
	}
}

// serveOne starts a command, the n-th, and waits for its end.
func serveOne(n uint64, c Command, tell func(answer)) {
	child, err := start(c)
	closeAll(append(c.Files, c.Output))
	if err != nil {
		tell(answer{Number: n, Error: err.Error(), Lost: errors.Is(err, ErrLost)})
		return
	}
	id := child.ID()
	tell(answer{Number: n, Process: &id})
	tell(answer{Number: n, Ended: true, Status: end(child, c.Record)})
}
