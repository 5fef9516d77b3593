package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"podd/internal/clients/tty"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
)

// console is where views write. A terminal that can't move its cursor is treated as a
// plain file.
func (p *program) console() view.Console {
	_, out := terminal(p.stdout)
	fd, err := terminal(p.stderr)
	dumb := p.env("TERM") == "dumb"
	return view.Console{
		Out: p.stdout, Err: p.stderr, OutTerminal: out && !dumb, ErrTerminal: err && !dumb,
		Color:  p.env("NO_COLOR") == "",
		Render: p.render == renderAlways || p.render != renderRaw && out && !dumb,
		Still:  p.env("CI") != "",
		Height: func() int {
			_, height, _ := term.GetSize(fd) // 0 when it is unknown.
			return height
		},
		Width: func() int {
			width, _, _ := term.GetSize(fd) // 0 when it is unknown.
			return width
		},
		Now: p.now,
	}
}

// columns is the width of the terminal w; 0 when w is not a terminal.
func (p *program) columns(w io.Writer) int {
	fd, ok := terminal(w)
	if !ok {
		return 0
	}
	width, _, _ := term.GetSize(fd) // 0 when it is unknown.
	return width
}

// terminal says whether a stream is one, and its descriptor.
func terminal(stream any) (fd int, ok bool) {
	file, ok := stream.(*os.File)
	if !ok {
		return -1, false
	}
	fd = int(file.Fd())
	return fd, term.IsTerminal(fd)
}

// Whether the Markdown of answers is shown or printed as it is. renderAuto renders on a
// terminal.
const (
	renderAuto   = "auto"
	renderRaw    = "raw"
	renderAlways = "always"
)

// renderFlag adds --render to a verb that shows answers.
func (p *program) renderFlag(cmd *cobra.Command) {
	when := word{&p.render, "WHEN", "WORD is not known: use auto, raw or always", []string{renderAuto, renderRaw, renderAlways}}
	cmd.Flags().Var(when, "render", "show Markdown: auto (on a terminal), raw (as it is) or always")
	completeWith(cmd, "render", when.words...)
}

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

// endWithReader ends podctl when the last reader of the pipe stdout goes, as the next write to
// it would: a verb that follows may have nothing to write for hours. Call stop at the end.
func endWithReader(stdout io.Writer) (stop func()) {
	out, ok := stdout.(*os.File)
	if !ok {
		return func() {}
	}
	info, err := out.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return func() {}
	}
	ended, end, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		watched := []unix.PollFd{{Fd: int32(out.Fd())}, {Fd: int32(ended.Fd())}}
		for {
			_, err := unix.Poll(watched, -1)
			switch {
			case err == unix.EINTR:
				continue
			case err == nil && watched[1].Revents == 0:
				_, _ = out.WriteString("\n") // A signal ends podctl.
			}
			return
		}
	}()
	return func() {
		_ = end.Close()
		<-done
		_ = ended.Close()
	}
}

// browse opens an address with $BROWSER, or with the system's browser. A failure is no reason
// to give up: the address is on the screen.
func (p *program) browse(ctx context.Context, address string) {
	// A server may have chosen the address, and a browser's command might read another form
	// as an option or a file.
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		fmt.Fprintln(p.stderr, "the address is not one of the web: podctl does not open it")
		return
	}
	name := p.env("BROWSER")
	switch {
	case name != "":
	case runtime.GOOS == "darwin":
		name = "open"
	default:
		name = "xdg-open"
	}
	cmd := exec.CommandContext(ctx, name, address)
	cmd.WaitDelay = time.Second // A browser that goes on may keep the output open.
	if text, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		fmt.Fprintf(p.stderr, "! cannot open a browser with %s (%v%s): open the address yourself\n", sanitize.Line(name), err, sanitize.Line(string(text)))
	}
}
