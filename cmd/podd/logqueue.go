package main

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	// queueBytes bounds the lines that are not written yet.
	queueBytes = 1 << 20
	// linePatience is how long a caller waits until its line is written. So a crash right after
	// it loses no line while somebody reads.
	linePatience = 50 * time.Millisecond
	// flushPatience is how long podd waits at its end until the lines are written.
	flushPatience = time.Second
)

// logQueue writes lines to a file by a goroutine of its own, because the file may accept nothing
// for as long as it likes: a pipe without a reader, a terminal after Ctrl-S. Write never fails
// and hardly waits: without room it counts the line as lost.
type logQueue struct {
	to io.Writer
	// told is the line that says how many were lost.
	told func(lines int) []byte

	mu    sync.Mutex
	lines []line
	bytes int
	lost  int
	// stuck says that a line waited in vain, and that not all lines have been written since.
	stuck, closed bool
	wake          chan struct{}
	stopped       chan struct{}
}

// line is one line of the log. written is closed once it is in the file, or lost.
type line struct {
	text    []byte
	written chan struct{}
}

func newLogQueue(to io.Writer, told func(lines int) []byte) *logQueue {
	q := &logQueue{to: to, told: told, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	go q.run()
	return q
}

// Write adds a line.
func (q *logQueue) Write(text []byte) (int, error) {
	l := line{append([]byte(nil), text...), make(chan struct{})}
	q.mu.Lock()
	if q.closed || q.bytes+len(text) > queueBytes {
		q.lost++
		q.mu.Unlock()
		return len(text), nil
	}
	q.lines, q.bytes = append(q.lines, l), q.bytes+len(text)
	stuck := q.stuck
	q.mu.Unlock()
	q.signal()
	if stuck {
		return len(text), nil
	}
	patience := time.NewTimer(linePatience)
	defer patience.Stop()
	select {
	case <-l.written:
	case <-patience.C:
		q.mu.Lock()
		q.stuck = len(q.lines) > 0
		q.mu.Unlock()
	}
	return len(text), nil
}

func (q *logQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run writes the lines until the queue is closed and empty.
func (q *logQueue) run() {
	defer close(q.stopped)
	for {
		switch l, lost, closed := q.next(); {
		case l.text != nil:
			_, err := q.to.Write(l.text)
			q.done(l, err != nil)
		case lost > 0 && q.tell(lost):
		case closed:
			return
		default:
			<-q.wake
		}
	}
}

// next returns the oldest line or, without one, how many were lost.
func (q *logQueue) next() (l line, lost int, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) > 0 {
		return q.lines[0], 0, false
	}
	return l, q.lost, q.closed
}

// tell writes how many lines were lost, and says whether that worked.
func (q *logQueue) tell(lost int) bool {
	if _, err := q.to.Write(q.told(lost)); err != nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost -= lost
	return true
}

// done removes the oldest line, which was written or lost.
func (q *logQueue) done(l line, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines, q.bytes = q.lines[1:], q.bytes-len(l.text)
	if len(q.lines) == 0 {
		q.lines, q.stuck = nil, false
	}
	if lost {
		q.lost++
	}
	close(l.written)
}

// Close waits a moment until all lines are written.
func (q *logQueue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	patience := time.NewTimer(flushPatience)
	defer patience.Stop()
	select {
	case <-q.stopped:
	case <-patience.C:
	}
}

// runsOn is for a command that serves until somebody stops it: whoever reads its standard error
// can neither hold it up nor, by closing it, end it.
func (p *program) runsOn(told func(lines int) []byte) {
	// Go ends a process that writes to a closed standard error, unless it asks for the signal.
	// Programs that it starts do not inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	q := newLogQueue(p.stderr, told)
	p.stderr, p.flush = q, q.Close
}
