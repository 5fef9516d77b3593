package view

import (
	"fmt"
	"time"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
)

// framePause is how long one frame of the spinner is shown.
const framePause = 120 * time.Millisecond

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// spin draws the status line until the screen is closed.
func (s *screen) spin() {
	ticker := time.NewTicker(framePause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.draw()
		case <-s.stop:
			return
		}
	}
}

// draw writes the tail of rendered text and the status line, except while the cursor is
// after text, which they would erase.
func (s *screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawNow()
}

// drawNow is draw under the lock.
func (s *screen) drawNow() {
	if s.question != "" {
		s.drawQuestion()
		return
	}
	s.refresh()
	if s.status == "" && len(s.tail) == 0 || s.behind() {
		return
	}
	before := s.rows()
	frame := s.up(nil)
	for _, line := range s.tail[max(0, len(s.tail)-s.height()/2+1):] {
		line = line.Fit(s.textWidth())
		frame = append(line.Append(frame, s.Color), eraseRest+"\n"...)
		s.drawn = append(s.drawn, line.Width())
	}
	status := s.statusLine()
	frame = append(frame, dim.paint(s.Color, status)...)
	if s.drawn = append(s.drawn, cells.Width(status)); before > len(s.drawn) {
		frame = append(frame, eraseBelow...)
	}
	_, _ = s.Err.Write(frame) // The next line reports a broken terminal.
}

// statusLine is the activity and how long it has taken.
func (s *screen) statusLine() string {
	if s.status == "" {
		return ""
	}
	s.frame++
	line := fmt.Sprintf("%c %s", frames[s.frame%len(frames)], sanitize.Line(s.status))
	since := ""
	if d := s.now().Sub(s.since); d >= time.Second {
		since = fmt.Sprintf("  %.0f s", d.Truncate(time.Second).Seconds())
	}
	// The last column is left free: writing there makes some terminals wrap.
	return cells.Fit(line, s.width()-1-len(since)) + since
}

// rows is how many rows the drawn lines take. A terminal that has become narrower has
// broken them.
func (s *screen) rows() (n int) {
	width := s.width()
	for _, w := range s.drawn {
		n += max((w+width-1)/width, 1)
	}
	return n
}

// up appends the way to the first of the drawn lines, which are then no longer drawn.
func (s *screen) up(frame []byte) []byte {
	if n := s.rows(); n > 1 {
		frame = fmt.Appendf(frame, "\x1b[%dA", n-1)
	}
	s.drawn = nil
	return append(frame, eraseLine...)
}

// erase removes what was drawn.
func (s *screen) erase() {
	switch n := s.rows(); {
	case n == 1:
		fmt.Fprint(s.Err, string(s.up(nil)))
	case n > 1:
		fmt.Fprint(s.Err, string(s.up(nil))+eraseBelow)
	}
}

const (
	// eraseLine returns to the first column and clears the line.
	eraseLine = "\r\x1b[K"
	// eraseRest clears the rest of the line, eraseBelow all that is below too.
	eraseRest  = "\x1b[K"
	eraseBelow = "\x1b[J"
)
