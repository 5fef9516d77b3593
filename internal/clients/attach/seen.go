package attach

import "os"

// onScreen is the part of a question that a frame has.
type onScreen struct {
	q                   *question
	columns, from, upTo int
	// since is how often the terminal had been written to when the frame was made.
	since int64
}

// painter is the terminal that frames are written to. It counts: of frames that follow each
// other fast, only the last is painted.
type painter struct {
	*os.File
	fd  uintptr
	app *app
}

// Fd is a number, because bubbletea asks for it in a goroutine for which it does not wait, so perhaps while the
// terminal is closed.
func (p painter) Fd() uintptr { return p.fd }

func (p painter) Write(b []byte) (int, error) {
	n, err := p.File.Write(b)
	p.app.painted.Add(1)
	return n, err
}

// shows notes what the next frame has of a question. If it is the same as before, the frame
// may need no painting.
func (a *app) shows(now onScreen) {
	if now.since = a.screen.since; now != a.screen {
		now.since = -1
		a.screen = now
	}
}

// framed says that the frame is made.
func (a *app) framed() {
	if a.screen.since < 0 {
		a.screen.since = a.painted.Load()
	}
}

// sees marks as seen what a frame had of a question, if the terminal has painted it.
func (a *app) sees() {
	s := a.screen
	if s.q == nil || s.since < 0 || s.q.columns != s.columns || a.painted.Load() == s.since {
		return
	}
	for i := s.from; i < min(s.upTo, len(s.q.seen)); i++ {
		s.q.seen[i] = true
	}
}

// wholly says whether nothing of the first question is left to be shown.
func (a *app) wholly() bool {
	q := a.questions[0]
	for i, seen := range q.seen {
		if !seen && (a.screen.q != q || i < a.screen.from || i >= a.screen.upTo) {
			return false
		}
	}
	return len(q.seen) > 0
}
