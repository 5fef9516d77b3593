package tty

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Jobs receives the signals by which a shell, or anybody, stops this process and lets it go on. A view
// gives the terminal back at the first, and takes it again at the second: what stopped the
// process may have been a signal that no process receives.
type Jobs chan os.Signal

// NewJobs begins to receive; Close ends it.
func NewJobs() Jobs {
	j := make(Jobs, 4)
	j.receive()
	return j
}

func (j Jobs) receive() { signal.Notify(j, unix.SIGTSTP, unix.SIGCONT) }

// Close ends the signals.
func (j Jobs) Close() { signal.Stop(j) }

// Away is what has the terminal instead of the view. It is a command of bubbletea.
func (j Jobs) Away(run func() error) Away { return Away{j, run} }

// Away runs while the view has no terminal. The process then stops at once, together with its
// editor, and the view does not hear of it.
type Away struct {
	jobs Jobs
	run  func() error
}

// Run runs it.
func (a Away) Run() error {
	stops, ended, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(stops, unix.SIGTSTP)
	go func() {
		defer close(done)
		for {
			select {
			case <-stops:
				// Once a Go program has asked for SIGTSTP, that does not stop it any more.
				if UnderShell() {
					_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
				}
			case <-ended:
				return
			}
		}
	}()
	a.jobs.Close()
	defer func() {
		a.jobs.receive()
		signal.Stop(stops)
		close(ended)
		<-done
	}()
	began := time.Now()
	err := a.run()
	time.Sleep(settleTime - time.Since(began))
	return err
}

// settleTime is how long the view has no terminal at least. The goroutine of bubbletea that drew until then stops a
// ticker, which the next one uses too: if it stops that after the next one has started, the view draws nothing more.
const settleTime = 50 * time.Millisecond

// SetStdin leaves to Away which files it uses, and so do SetStdout and SetStderr.
func (Away) SetStdin(io.Reader) {}

// SetStdout is like SetStdin.
func (Away) SetStdout(io.Writer) {}

// SetStderr is like SetStdin.
func (Away) SetStderr(io.Writer) {}

// Stop stops the processes that the shell started together, as Ctrl-Z does, until the shell lets
// them go on, or ctx ends. Away runs it.
func Stop(ctx context.Context) error {
	goes := make(chan os.Signal, 1)
	signal.Notify(goes, unix.SIGCONT)
	defer signal.Stop(goes)
	if err := unix.Kill(0, unix.SIGTSTP); err != nil {
		return fmt.Errorf("cannot stop: %w", err)
	}
	select {
	case <-goes:
	case <-ctx.Done():
	}
	return nil
}
