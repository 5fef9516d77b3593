// Command podctl talks to podd: it makes pods, gives them input and shows what they
// do.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the process as if none were handled.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, now: time.Now,
	}))
}
