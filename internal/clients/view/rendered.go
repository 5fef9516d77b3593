package view

import (
	"podd/internal/clients/markdown"
	"podd/internal/clients/show"
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
	drawn := s.drawn > 0
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
