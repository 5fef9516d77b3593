package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/term"
	"google.golang.org/protobuf/proto"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// watchEvery is how often a watching command asks podd.
const watchEvery = time.Second

// watch shows what ask returns, again and again until ctx ends: on a terminal in place,
// elsewhere whenever it changes. If podd goes away after the first answer, watch waits for
// it.
func watch[M proto.Message](ctx context.Context, p *program, ask func(context.Context) (M, error), text func(io.Writer, M) error) error {
	defer endWithReader(p.stdout)()
	every := p.every
	if every == 0 {
		every = watchEvery
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	f := p.frames()
	var last M
	seen, away := false, false
	for {
		m, err := ask(ctx)
		switch {
		case err == nil:
			if !seen || f.inPlace || !proto.Equal(m, last) {
				err = f.show(p, m, func(w io.Writer) error { return text(w, m) })
			}
			last, seen, away = m, true, false
		case seen && ctx.Err() == nil && item.KindOf(err) == item.KindUnavailable:
			if !away {
				fmt.Fprintf(p.stderr, "! lost the connection to podd; retrying: %s\n", sanitize.Line(err.Error()))
			}
			away, err = true, nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// frames shows one text after the other.
type frames struct {
	out io.Writer
	// inPlace makes each replace the one before, from the top of the screen.
	inPlace bool
	// height is the number of the screen's lines; nil or 0 when it is unknown.
	height func() int
	shown  int
}

func (p *program) frames() *frames {
	fd, _ := terminal(p.stdout)
	return &frames{
		out: p.stdout, inPlace: p.output == outputText && p.console().OutTerminal,
		height: func() int {
			_, height, _ := term.GetSize(fd) // 0 when it is unknown.
			return height
		},
	}
}

// show prints a message: as JSON a line, as text in place or below an empty line.
func (f *frames) show(p *program, m proto.Message, text func(io.Writer) error) error {
	if p.output == outputJSON {
		return p.printJSON(m)
	}
	var frame bytes.Buffer
	if err := text(&frame); err != nil {
		return err
	}
	_, err := f.out.Write(f.next(frame.Bytes()))
	return err
}

// next is what to write for the next text.
func (f *frames) next(text []byte) []byte {
	f.shown++
	switch {
	case !f.inPlace && f.shown == 1:
		return text
	case !f.inPlace:
		return append([]byte("\n"), text...)
	}
	const home, clearScreen, clearLine, clearBelow = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
	lines := bytes.SplitAfter(text, []byte("\n"))
	if f.height != nil {
		// The cursor is below the text, and must not scroll the screen.
		if most := f.height() - 1; most > 0 && len(lines)-1 > most {
			lines = lines[:most]
		}
	}
	out := []byte(home)
	if f.shown == 1 {
		out = append(out, clearScreen...)
	}
	for _, line := range lines {
		out = append(out, bytes.TrimSuffix(line, []byte("\n"))...)
		if bytes.HasSuffix(line, []byte("\n")) {
			out = append(out, clearLine+"\n"...)
		}
	}
	return append(out, clearBelow...)
}
