// Command podctl is the command line of podd: it creates pods, submits prompts to them
// and shows what they do.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// outliveReaders is for a verb that an editor or a person still uses when nobody reads its standard error any
// more. By default, Go ends a program that writes there, as it should for podctl list | head.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, now: time.Now,
	}))
}
