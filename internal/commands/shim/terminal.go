package shim

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const (
	terminalRows, terminalColumns = 40, 120
	// restPatience is for how long the last output of a command is read after it has ended:
	// what it leaves behind may keep its terminal open.
	restPatience = 300 * time.Millisecond
	// inputPatience is for how long a command may take to read its input.
	inputPatience = 5 * time.Second
)

// errNoInput is for a command that takes no input.
var errNoInput = errors.New("it takes no input: it has no terminal, or has ended")

// terminal is the terminal of a command, whose output goes to a file.
type terminal struct {
	master *os.File
	copied chan struct{}
	// over says that the command has ended: nothing is typed any more.
	over atomic.Bool
	// typing guards typed, what was typed with keys, oldest first.
	typing sync.Mutex
	typed  []typed
}

// openTerminal gives a command that is not started a terminal. The caller closes the slave
// once the command has it.
func openTerminal(cmd *exec.Cmd) (t *terminal, slave *os.File, err error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	if err := pty.Setsize(slave, &pty.Winsize{Rows: terminalRows, Cols: terminalColumns}); err != nil {
		_, _ = master.Close(), slave.Close()
		return nil, nil, err
	}
	if master, err = polled(master); err != nil {
		_ = slave.Close()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setctty: true}
	return &terminal{master: master, copied: make(chan struct{})}, slave, nil
}

// polled is the file with deadlines, which one that was asked for its descriptor has not.
func polled(file *os.File) (*os.File, error) {
	defer file.Close()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}

// copy writes the command's output to a file, which it closes, until no process has the
// terminal open.
func (t *terminal) copy(to *os.File) {
	defer close(t.copied)
	defer t.master.Close()
	defer to.Close()
	// An error of the terminal means its end; the reader of the file sees one of the file.
	_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{t.master})
}

// rest waits for the last output of a command that has ended.
func (t *terminal) rest() {
	select {
	case <-t.copied:
	case <-time.After(restPatience):
	}
}

// write types input, what has a key only once.
func (t *terminal) write(r asked) error {
	t.typing.Lock()
	defer t.typing.Unlock()
	for _, earlier := range t.typed {
		if r.key != "" && earlier.key == r.key {
			return earlier.err
		}
	}
	if r.asks {
		// It may still be on its way from a podd that was killed: it is not typed any more.
		t.remember(r.key, 0, ErrUntyped)
		return ErrUntyped
	}
	// end does these in the other order: one of them stops what would be typed after the end.
	_ = t.master.SetWriteDeadline(time.Now().Add(inputPatience))
	if t.over.Load() {
		return errNoInput
	}
	n, err := t.master.Write(r.input)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = &ShortInputError{Written: n}
	}
	t.remember(r.key, n, err)
	return err
}

// end is for a command that has ended. It returns how many bytes of each input with a key were typed.
func (t *terminal) end() map[string]int {
	t.over.Store(true)
	_ = t.master.SetWriteDeadline(time.Unix(0, 1))
	t.typing.Lock()
	defer t.typing.Unlock()
	took := make(map[string]int, len(t.typed))
	for _, input := range t.typed {
		took[input.key] = input.bytes
	}
	return took
}

// remember keeps what became of input with a key.
func (t *terminal) remember(key string, bytes int, err error) {
	if key != "" {
		t.typed = append(t.typed[max(0, len(t.typed)+1-maxTyped):], typed{key, bytes, err})
	}
}

// maxTyped is how many inputs a terminal remembers: more than a turn types at once.
const maxTyped = 256

// typed is an input, and what the command took of it.
type typed struct {
	key   string
	bytes int
	err   error
}

// ErrUntyped says that an input was not typed.
var ErrUntyped = errors.New("the input was not typed")

// ShortInputError is for a command that did not read all of its input in time.
type ShortInputError struct {
	// Written is how many bytes it can read.
	Written int
}

// Error says so.
func (e *ShortInputError) Error() string { return "it does not read its input" }
