package view

import (
	"fmt"
	"time"

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

// draw writes the status line, except while the cursor is after text, which it would
// erase.
func (s *screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.question != "" {
		s.drawQuestion()
		return
	}
	if s.status == "" || s.behind() {
		return
	}
	s.frame++
	line := fmt.Sprintf("%c %s", frames[s.frame%len(frames)], sanitize.Line(s.status))
	since := ""
	if d := s.now().Sub(s.since); d >= time.Second {
		since = fmt.Sprintf("  %.0f s", d.Truncate(time.Second).Seconds())
	}
	// The last column is left free: writing there makes some terminals wrap.
	line = Fit(line, s.width()-1-len(since)) + since
	fmt.Fprint(s.Err, eraseLine, dim.paint(s.Color, line))
	s.drawn = true
}

// erase removes the status line, or the question.
func (s *screen) erase() {
	if s.drawn {
		fmt.Fprint(s.Err, eraseLine)
		s.drawn = false
	}
}

// eraseLine returns to the first column and clears the line.
const eraseLine = "\r\x1b[K"
