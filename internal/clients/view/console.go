package view

import (
	"io"
	"time"
)

// Console is where a view writes.
type Console struct {
	// Out gets the requested output, Err everything about it; both are required.
	Out, Err io.Writer
	// OutTerminal and ErrTerminal say which of them a person watches.
	OutTerminal, ErrTerminal bool
	// Color allows colours on those that are terminals.
	Color bool
	// Render shows the Markdown of answers; without it they are written as they are. Still
	// redraws nothing: there is no status line, and text appears once it is final.
	Render, Still bool
	// Full shows long diffs in full.
	Full bool
	// Height is the number of lines of the terminal now; nil or a result below 1 means 24.
	Height func() int
	// Width is the number of columns of the terminal now; nil or a result below 1
	// means 80.
	Width func() int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (c Console) width() int {
	if c.Width == nil {
		return defaultWidth
	}
	if w := c.Width(); w > 0 {
		return w
	}
	return defaultWidth
}

const (
	defaultWidth  = 80
	defaultHeight = 24
)

func (c Console) height() int {
	if c.Height != nil {
		if h := c.Height(); h > 0 {
			return h
		}
	}
	return defaultHeight
}

func (c Console) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// style is an SGR code; empty is plain.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	yellow style = "33"
	cyan   style = "36"
)

// paint puts sanitised text into a style, when colours are wanted.
func (s style) paint(on bool, text string) string {
	if !on || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
