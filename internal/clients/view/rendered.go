package view

import (
	"podd/internal/clients/markdown"
	"podd/internal/clients/show"
	"podd/pkg/item"
)

// render adds a fragment to the rendered text and writes what became final of it.
func (s *screen) render(fragment string) error {
	if s.rendered == nil {
		s.rendered = markdown.NewStream(s.textWidth())
	}
	s.rendered.Write(fragment)
	s.stale = true
	return s.final()
}

// endRendered writes the rest of the rendered text.
func (s *screen) endRendered() error {
	if s.rendered == nil {
		return nil
	}
	s.rendered.End()
	s.erase()
	s.tail = nil
	err := s.final()
	s.rendered, s.stale = nil, false
	return err
}

// final writes the lines that became final to Out, where they stay.
func (s *screen) final() error {
	lines := s.rendered.Final()
	if len(lines) == 0 {
		return nil
	}
	drawn := len(s.drawn) > 0
	s.erase()
	_, err := lastByte{s}.Write(renderedLines(lines, s.Color))
	if drawn {
		s.drawNow()
	}
	return written(err)
}

// refresh brings the tail up to date. Only two terminals are one screen.
func (s *screen) refresh() {
	if s.stale && s.OutTerminal {
		s.tail, s.stale = s.rendered.Tail(), false
	}
}

// changes shows what a call changed in files, on Err.
func (s *screen) changes(diffs []item.FileDiff) {
	if len(diffs) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.leaveText()
	_, _ = s.Err.Write(renderedLines(s.diffs(diffs), s.Color)) // As note does.
	s.drawQuestion()
}

// asked shows a call that waits for approval, on Err.
func (s *screen) asked(a Approval, raw bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.leaveText()
	columns := 0
	if s.ErrTerminal {
		columns = s.width()
	}
	lines := append([]show.Line{show.Plain("? "+a.Title(), show.Style{Color: show.Yellow})}, a.Shown(columns, raw)...)
	_, _ = s.Err.Write(renderedLines(lines, s.ErrTerminal && s.Color)) // As note does.
	s.drawQuestion()
}

// diffs are the lines of changes, indented like the body of an entry.
func (c Console) diffs(diffs []item.FileDiff) (lines []show.Line) {
	for _, d := range diffs {
		lines = append(lines, show.Diff(d.Path, d.Diff, c.Full, "podctl tail --full", c.textWidth()-len(bodyIndent))...)
	}
	return indented(lines)
}

// WriteDiff writes a title and a unified diff of one file below it.
func (c Console) WriteDiff(title, diff string) error {
	lines := []show.Line{show.Plain(title, show.Style{Bold: true})}
	if diff != "" {
		lines = append(lines, indented(show.Diff("", diff, true, "", c.textWidth()-len(bodyIndent))[1:])...)
	}
	_, err := c.Out.Write(renderedLines(lines, c.OutTerminal && c.Color))
	return err
}

func indented(lines []show.Line) []show.Line {
	for i, line := range lines {
		if len(line) > 0 {
			lines[i] = show.With(show.Plain(bodyIndent, show.Style{}), line)
		}
	}
	return lines
}

// renderedLines are lines as they are written.
func renderedLines(lines []show.Line, color bool) (out []byte) {
	for _, line := range lines {
		out = append(line.Append(out, color), '\n')
	}
	return out
}

// textWidth is how wide rendered text may be. The last column of a terminal stays free:
// writing there makes some of them wrap.
func (c Console) textWidth() int { return c.width() - 1 }
