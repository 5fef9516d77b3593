package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"podd/internal/clients/view"
)

// console is where a turn is shown.
func (p *program) console() view.Console {
	c := view.Console{
		Out: p.stdout, Err: p.stderr,
		OutTerminal: isTerminal(p.stdout), ErrTerminal: isTerminal(p.stderr),
		Color: p.env("NO_COLOR") == "",
	}
	if f, ok := p.stderr.(*os.File); ok && c.ErrTerminal {
		c.Width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	return c
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
