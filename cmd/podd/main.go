// Command podd is the daemon that hosts pods.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"

	"podd/internal/guard/harden"
	"podd/internal/ops/systemd"
	"podd/internal/shell"
)

// The kernel delivers a signal to the main thread first, and to no other thread if that one
// hangs in a system call. So only main runs on it, and main only waits.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // main.main may start on another thread

func main() {
	// First of all: this process may be the helper of a sandbox, which becomes its command,
	// or the process that starts commands for another podd.
	shell.Main()
	// Before anything secret is read; if the system refuses, podd works anyway.
	_ = harden.Process()
	// Closing podd's terminal sends this too: podd keeps running.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	end := ending{begin: cancel, hurry: make(chan struct{})}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	go func() {
		for s := range signals {
			if deadly := end.hear(s); deadly != nil {
				signal.Reset(deadly...)
			}
		}
	}()
	code := make(chan int)
	go func() {
		code <- run(ctx, os.Args[1:], program{
			stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv,
			hurry: end.hurry, restarts: end.restarts.Load, hangup: hangup, manager: systemd.Take,
		})
	}()
	os.Exit(<-code)
}

// ending is how podd ends, which signals say.
type ending struct {
	// begin ends the context of the command that runs.
	begin func()
	heard int
	// hurry is closed to cut the drain short.
	hurry chan struct{}
	// restarts says that podd starts again at once: the service sends SIGUSR1 then. Any other signal,
	// before or after it, means that podd stops.
	restarts atomic.Bool
}

// hear takes a signal. The first begins the drain and the second cuts it short. The third kills podd, whatever
// hangs: the store survives that. deadly are the signals that kill podd from now on. After SIGUSR1 alone, a stop is not:
// it still has to end what a restart leaves running.
func (e *ending) hear(s os.Signal) (deadly []os.Signal) {
	e.heard++
	switch e.heard {
	case 1:
		e.restarts.Store(s == syscall.SIGUSR1)
		e.begin()
	case 2:
		close(e.hurry)
	}
	if s != syscall.SIGUSR1 {
		e.restarts.Store(false)
	}
	switch {
	case e.heard == 1:
		return nil
	case e.restarts.Load():
		return []os.Signal{syscall.SIGUSR1}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1}
}
