// Package tty waits for input, such as typed text on a terminal.
//
// Rank 0. Its functions may be called from any goroutine.
package tty

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Await waits until a read of a file does not block, or until ctx ends: a read of a
// terminal cannot be interrupted once it has started.
func Await(ctx context.Context, fd int) error {
	ended, end, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot wait for input: %w", err)
	}
	defer ended.Close()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = end.Close()
	})
	defer func() {
		if stop() {
			_ = end.Close()
			return
		}
		<-closed
	}()
	pipe := int(ended.Fd())
	for {
		var readable unix.FdSet
		readable.Set(fd)
		readable.Set(pipe)
		_, err := unix.Select(max(fd, pipe)+1, &readable, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("cannot wait for input: %w", err)
		case readable.IsSet(pipe):
			return context.Cause(ctx)
		default:
			return nil
		}
	}
}
