package remote

import (
	"bytes"
	"sync"
	"time"

	"podd/internal/sanitize"
)

// waitDelay is how long ssh's standard error may stay open after ssh has ended.
const waitDelay = time.Second

// mostSaid is how much of a line of ssh is kept, in bytes.
const mostSaid = 500

// lastLine keeps the last line with text that was written to it.
type lastLine struct {
	mu         sync.Mutex
	last, open []byte
}

// Write implements io.Writer.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.open = append(l.open, line[:min(len(line), mostSaid-len(l.open))]...)
		if rest = after; whole {
			l.end()
		}
	}
	return len(p), nil
}

func (l *lastLine) end() {
	if line := bytes.TrimSpace(l.open); len(line) > 0 {
		l.last = bytes.Clone(line)
	}
	l.open = l.open[:0]
}

// text is the line, safe to show.
func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	return sanitize.Line(string(l.last))
}
