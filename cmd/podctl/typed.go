package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

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

// asked is nil if the person at the terminal answers a question with yes. silent is the
// error without a terminal, no the one after another answer.
func (p *program) asked(ctx context.Context, question string, silent, no error) error {
	tty, _ := p.stdin.(*os.File)
	if _, ok := terminal(p.stdin); !ok || clearTyped(tty) != nil {
		return silent
	}
	fmt.Fprintf(p.stderr, "%s [y] yes [Enter] no: ", question)
	typed, err := readTyped(ctx, tty)
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "y", "yes":
		return nil
	}
	return no
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
