package view

import (
	"fmt"
	"io"
	"sync"
	"time"

	"podd/internal/sanitize"
)

// screen keeps two writers in order that may share one terminal: the text on Out
// stays whole, lines on Err stand on lines of their own, and below them one line
// says what is going on, on a terminal only.
type screen struct {
	Console
	// safe leads to Out by way of the sanitiser.
	safe *sanitize.Writer

	mu sync.Mutex
	// open says that the last line of Out has no newline yet.
	open bool
	// broken says that a newline on Err has ended that line on the terminal.
	broken bool
	// status is what is going on since when; question stands in its place while a
	// person is asked. drawn says that one of them stands on the terminal.
	status   string
	question string
	since    time.Time
	drawn    bool
	frame    int

	stop    chan struct{}
	stopped sync.WaitGroup
}

func newScreen(c Console) *screen {
	s := &screen{Console: c, stop: make(chan struct{})}
	s.safe = sanitize.NewWriter(lastByte{s})
	if c.ErrTerminal {
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
	s.erase()
	_, err := io.WriteString(s.safe, fragment)
	return written(err)
}

// endText ends the text's last line.
func (s *screen) endText() error {
	s.mu.Lock()
	defer s.mu.Unlock()
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

// behind says whether the terminal's cursor stands behind text of Out.
func (s *screen) behind() bool {
	return s.open && !s.broken && s.OutTerminal && s.ErrTerminal
}

// leaveText takes the cursor off the text, without adding to it.
func (s *screen) leaveText() {
	if s.behind() {
		fmt.Fprintln(s.Err)
		s.broken = true
	}
}

// note writes a line to Err. A terminal gets its start; text is sanitised already.
func (s *screen) note(st style, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.leaveText()
	if s.ErrTerminal {
		text = Fit(text, s.width())
	}
	fmt.Fprintln(s.Err, st.paint(s.ErrTerminal && s.Color, text))
	s.drawQuestion()
}

// block writes lines to Err, whole, and the first of them in a style. They are safe.
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

// ask puts a safe question below everything, with the cursor behind it; "" takes it
// away. typed says that an answer, and with it the end of the line, stands behind the
// one before.
func (s *screen) ask(question string, typed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if typed {
		s.drawn = false
	}
	s.erase()
	s.question = question
	if question != "" {
		s.leaveText()
	}
	s.drawQuestion()
}

// drawQuestion draws the question where it was erased.
func (s *screen) drawQuestion() {
	if s.question == "" || s.drawn || s.behind() {
		return
	}
	fmt.Fprint(s.Err, bold.paint(s.ErrTerminal && s.Color, Fit(s.question, s.width()-questionRoom)), " ")
	s.drawn = true
}

// questionRoom is what is left of the line for the blank and a short answer.
const questionRoom = 4

// going says what is going on now; empty: nothing to say. The text need not be
// safe.
func (s *screen) going(on string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on == s.status {
		return
	}
	s.status, s.since = on, s.now()
	if on == "" && s.question == "" {
		s.erase()
	}
}

// written gives a failed write of the answer its sentence.
func written(err error) error {
	if err != nil {
		return fmt.Errorf("the answer cannot be written: %w", err)
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
