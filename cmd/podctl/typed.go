package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// errBackground says that the terminal belongs to another program now.
var errBackground = errors.New("podctl runs in the background")

// inForeground says whether a terminal's input is for this process. One that is not
// its own controlling terminal has no background.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// clearTyped forgets what was typed on a terminal before a question stands there: it
// was meant for something else.
func clearTyped(tty *os.File) error {
	fd := int(tty.Fd())
	if !inForeground(fd) {
		return errBackground
	}
	if err := forgetTyped(fd); err != nil {
		return fmt.Errorf("the terminal cannot be read: %w", err)
	}
	return nil
}

// readTyped reads the next line that is typed on a terminal. It ends when ctx does.
func readTyped(ctx context.Context, tty *os.File) (string, error) {
	fd := int(tty.Fd())
	if err := awaitTyped(ctx, fd); err != nil {
		return "", err
	}
	if !inForeground(fd) {
		return "", errBackground
	}
	line := make([]byte, maxTyped)
	n, err := tty.Read(line)
	if err != nil {
		return "", fmt.Errorf("the terminal cannot be read: %w", err)
	}
	return string(line[:n]), nil
}

// maxTyped is above the longest line that a terminal hands over, in bytes.
const maxTyped = 8192

// awaitTyped waits until a line was typed, or until ctx ends.
func awaitTyped(ctx context.Context, fd int) error {
	ended, end, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("the terminal cannot be waited for: %w", err)
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
			return fmt.Errorf("the terminal cannot be waited for: %w", err)
		case readable.IsSet(pipe):
			return context.Cause(ctx)
		default:
			return nil
		}
	}
}
