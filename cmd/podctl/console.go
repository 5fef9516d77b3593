package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"podd/internal/clients/view"
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
