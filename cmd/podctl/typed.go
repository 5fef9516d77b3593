package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"podd/internal/clients/tty"
)

// errBackground says that podctl does not own the terminal now.
var errBackground = errors.New("podctl is running in the background")

// inForeground says whether a terminal's input is for this process. One that is not
// its own controlling terminal has no background.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// clearTyped discards what was typed on a terminal before a question appears: it was
// meant for something else.
func clearTyped(file *os.File) error {
	fd := int(file.Fd())
	if !inForeground(fd) {
		return errBackground
	}
	if err := forgetTyped(fd); err != nil {
		return fmt.Errorf("cannot read from the terminal: %w", err)
	}
	return nil
}

// asked is nil if the person at the terminal answers a question with yes: the key y is enough.
// silent is the error without a terminal, no the one after another answer.
func (p *program) asked(ctx context.Context, question string, silent, no error) error {
	tty, _ := p.stdin.(*os.File)
	if _, ok := terminal(p.stdin); !ok || clearTyped(tty) != nil {
		return silent
	}
	fmt.Fprintf(p.stderr, "%s [y] yes [Enter] no: ", question)
	yes, err := pressedYes(ctx, tty)
	if err != nil {
		return err
	}
	if !yes {
		fmt.Fprintln(p.stderr, "no")
		return no
	}
	fmt.Fprintln(p.stderr, "yes")
	return nil
}

// yesPause is how long the rest of a typed yes, and its Enter, may follow the y.
const yesPause = 300 * time.Millisecond

// pressedYes waits for one key on a terminal, and says whether it is y. What a person types of
// the rest of a yes goes nowhere else.
func pressedYes(ctx context.Context, file *os.File) (bool, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return false, fmt.Errorf("cannot read from the terminal: %w", err)
	}
	defer func() { _ = term.Restore(fd, before) }()
	typed, err := readTyped(ctx, file)
	if err != nil || !strings.EqualFold(typed[:min(len(typed), 1)], "y") {
		return false, err
	}
	for !strings.ContainsAny(typed, "\r\n") {
		pause, stop := context.WithTimeout(ctx, yesPause)
		typed, err = readTyped(pause, file)
		stop()
		if err != nil {
			break // Nothing followed.
		}
	}
	return true, nil
}

// readTyped reads the next line that is typed on a terminal. It ends when ctx does.
func readTyped(ctx context.Context, file *os.File) (string, error) {
	fd := int(file.Fd())
	if err := tty.Await(ctx, fd); err != nil {
		return "", err
	}
	if !inForeground(fd) {
		return "", errBackground
	}
	line := make([]byte, maxTyped)
	n, err := file.Read(line)
	if err != nil {
		return "", fmt.Errorf("cannot read from the terminal: %w", err)
	}
	return string(line[:n]), nil
}

// maxTyped is larger than the longest line that a terminal delivers, in bytes.
const maxTyped = 8192
