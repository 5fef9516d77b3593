package attach

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"podd/internal/clients/tty"
	"podd/internal/clients/view"
)

// terminal is the screen and the keyboard while the view uses them.
type terminal struct {
	in, out *os.File
	was     *term.State
	// shown are the lines on the screen.
	shown         []string
	columns, rows int
}

// The sequences that set the terminal up and restore it: the alternate screen, bracketed
// paste, and no line wrapping.
const (
	takeScreen = "\x1b[?1049h\x1b[?2004h\x1b[?7l\x1b[2J"
	giveScreen = "\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// openTerminal takes the terminal. The caller gives it back with close.
func openTerminal(in, out *os.File) (*terminal, error) {
	t := &terminal{in: in, out: out}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("cannot set up the terminal: %w", err)
	}
	t.was = was
	if _, err := out.WriteString(takeScreen); err != nil {
		t.close()
		return nil, fmt.Errorf("cannot write to the terminal: %w", err)
	}
	t.measure()
	return t, nil
}

// close restores the terminal.
func (t *terminal) close() {
	_, _ = t.out.WriteString(giveScreen) // A terminal that is gone needs nothing.
	_ = term.Restore(int(t.in.Fd()), t.was)
}

// measure asks for the size of the screen and has all of it redrawn.
func (t *terminal) measure() {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || columns < 1 || rows < 1 {
		columns, rows = 80, 24
	}
	t.columns, t.rows, t.shown = columns, rows, nil
}

// draw shows lines from the top, and the cursor at a place.
func (t *terminal) draw(lines []string, row, column int) error {
	var b bytes.Buffer
	b.WriteString("\x1b[?25l")
	if t.shown == nil {
		b.WriteString("\x1b[0m\x1b[2J")
		t.shown = make([]string, len(lines))
	}
	for i, line := range lines {
		if i < len(t.shown) && t.shown[i] == line {
			continue
		}
		// Erase first: after a line that fills the screen the cursor is on its last
		// character.
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m\x1b[K%s\x1b[0m", i+1, line)
	}
	t.shown = append(t.shown[:0], lines...)
	fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", row+1, column+1)
	_, err := t.out.Write(b.Bytes())
	return err
}

// read passes on typed bytes until ctx or the terminal ends.
func (t *terminal) read(ctx context.Context, typed func([]byte)) error {
	for {
		if err := tty.Await(ctx, int(t.in.Fd())); err != nil {
			return err
		}
		p := make([]byte, 64<<10)
		n, err := t.in.Read(p)
		if err != nil {
			return fmt.Errorf("cannot read from the terminal: %w", err)
		}
		typed(p[:n])
	}
}

// Styles of text, on terminals that have colours.
const (
	plain  style = ""
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	cyan   style = "\x1b[36m"
)

type style string

// line is a safe line and its style.
type line struct {
	text  string
	style style
}

// paint is the line as it is written.
func (l line) paint(color bool, columns int) string {
	text := fitted(l.text, columns)
	if !color || l.style == plain {
		return text
	}
	return string(l.style) + text
}

// fitted cuts a safe line that is too long for the screen.
func fitted(text string, columns int) string {
	used := 0
	for i, r := range text {
		if used += view.RuneWidth(r); used > columns {
			return text[:i]
		}
	}
	return text
}

// wordWrap cuts a safe line into lines of at most columns, between words if possible.
// Lines after the first get the indent.
func wordWrap(text, indent string, columns int) (lines []string) {
	room := max(columns, 8)
	begin, used, space := 0, 0, -1
	lead := ""
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == ' ' {
			space = i
		}
		if used+view.RuneWidth(r) > room && i > begin {
			end, next := i, i
			if space > begin {
				end, next = space, space+1
			}
			lines = append(lines, lead+text[begin:end])
			begin, i, space, lead = next, next, -1, indent
			used = len(indent)
			continue
		}
		used += view.RuneWidth(r)
		i += size
	}
	return append(lines, lead+strings.TrimRight(text[begin:], " "))
}
