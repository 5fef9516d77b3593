package view

import (
	"fmt"
	"io"
	"sync"
	"time"

	"podd/internal/clients/cells"
	"podd/internal/clients/markdown"
	"podd/internal/clients/show"
	"podd/internal/sanitize"
)

// screen coordinates two writers that may share one terminal: the text on Out stays
// intact, lines on Err get lines of their own, and on a terminal a status line is below
// them.
type screen struct {
	Console
	// safe leads to Out by way of the sanitiser.
	safe *sanitize.Writer

	mu sync.Mutex
	// open says that the last line of Out has no newline yet.
	open bool
	// broken says that a newline on Err has ended that line on the terminal.
	broken bool
	// rendered is the text that is being rendered; nil without one. tail are the lines of it
	// that can still change, as of now unless stale.
	rendered *markdown.Stream
	tail     []show.Line
	stale    bool
	// status is the current activity, since its start; while a person is asked, question
	// replaces it, and the tail. drawn are the widths of the lines of these on the terminal.
	status   string
	question string
	since    time.Time
	drawn    []int
	frame    int

	stop    chan struct{}
	stopped sync.WaitGroup
}

func newScreen(c Console) *screen {
	s := &screen{Console: c, stop: make(chan struct{})}
	s.safe = sanitize.NewWriter(lastByte{s})
	if c.ErrTerminal && !c.Still {
		s.stopped.Go(s.spin)
	}
	return s
}

// close erases the status line and waits for the goroutine that moves it.
func (s *screen) close() {
	close(s.stop)
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.leaveText()
}

// text writes a fragment of the text to Out.
func (s *screen) text(fragment string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Render {
		return s.render(fragment)
	}
	s.erase()
	_, err := io.WriteString(s.safe, fragment)
	return written(err)
}

// endText ends the text's last line.
func (s *screen) endText() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Render {
		return s.endRendered()
	}
	s.erase()
	if err := s.safe.Flush(); err != nil {
		return written(err)
	}
	if !s.open || s.broken {
		s.open = false
		return nil
	}
	_, err := io.WriteString(lastByte{s}, "\n")
	return written(err)
}

// behind says whether the terminal's cursor is after text of Out.
func (s *screen) behind() bool {
	return s.open && !s.broken && s.OutTerminal && s.ErrTerminal
}

// leaveText moves the cursor off the text, without adding to it.
func (s *screen) leaveText() {
	if s.behind() {
		fmt.Fprintln(s.Err)
		s.broken = true
	}
}

// note writes a line to Err, cut to the width of a terminal. text is already sanitised.
func (s *screen) note(st style, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.leaveText()
	if s.ErrTerminal {
		text = cells.Fit(text, s.width())
	}
	fmt.Fprintln(s.Err, st.paint(s.ErrTerminal && s.Color, text))
	s.drawQuestion()
}

// block writes complete lines to Err, the first of them in a style. They are safe.
func (s *screen) block(st style, lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.leaveText()
	for i, line := range lines {
		if i > 0 {
			st = plain
		}
		fmt.Fprintln(s.Err, st.paint(s.ErrTerminal && s.Color, line))
	}
	s.drawQuestion()
}

// ask shows a safe question below everything, with the cursor after it; "" removes it.
// typed says that an answer, and so the end of the line, was typed after the previous one.
func (s *screen) ask(question string, typed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if typed {
		s.drawn = nil
	}
	s.erase()
	s.question = question
	if question != "" {
		s.leaveText()
	}
	s.drawQuestion()
}

// drawQuestion redraws the question after it was erased.
func (s *screen) drawQuestion() {
	if s.question == "" || len(s.drawn) > 0 || s.behind() {
		return
	}
	shown := cells.Fit(s.question, s.width()-questionRoom)
	fmt.Fprint(s.Err, bold.paint(s.ErrTerminal && s.Color, shown), " ")
	s.drawn = []int{cells.Width(shown) + 1}
}

// questionRoom is what is left of the line for the blank and a short answer.
const questionRoom = 4

// going sets the current activity; "" means none. The text need not be safe.
func (s *screen) going(on string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on == s.status {
		return
	}
	s.status, s.since = on, s.now()
	if on == "" && s.question == "" && len(s.tail) == 0 {
		s.erase()
	}
}

// written adds context to a failed write of the answer.
func written(err error) error {
	if err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	return nil
}

// lastByte is Out, and remembers how the text on it ends. It is used under the
// screen's lock.
type lastByte struct{ s *screen }

func (w lastByte) Write(p []byte) (int, error) {
	n, err := w.s.Out.Write(p)
	if n > 0 {
		w.s.open, w.s.broken = p[n-1] != '\n', false
	}
	return n, err
}
