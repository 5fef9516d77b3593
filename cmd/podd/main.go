// Command podd is the daemon that hosts pods.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"podd/internal/daemon"
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
	// The first signal starts the drain, the second one cuts it short. The service sends SIGUSR1 when
	// podd starts again at once.
	ctx, cancel := context.WithCancelCause(context.Background())
	hurry := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	go func() {
		var why error
		if <-signals == syscall.SIGUSR1 {
			why = daemon.ErrRestart
		}
		cancel(why)
		<-signals
		close(hurry)
		// A third signal kills podd, whatever hangs. The store survives that.
		signal.Stop(signals)
	}()
	code := make(chan int)
	go func() {
		code <- run(ctx, os.Args[1:], program{
			stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, hurry: hurry, hangup: hangup, manager: systemd.Take,
		})
	}()
	os.Exit(<-code)
}
