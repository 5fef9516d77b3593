package worker

import (
	"context"
	"time"
)

// workClock ends a turn that has worked for too long. It stops while the turn waits for
// others. It belongs to the turn's goroutine.
type workClock struct {
	timer   *time.Timer
	left    time.Duration
	since   time.Time
	running bool
	// tell is called whenever the clock starts or stops.
	tell func(working bool)
}

// newWorkClock calls end once the clock has run for limit.
func newWorkClock(limit time.Duration, end context.CancelCauseFunc, tell func(working bool)) *workClock {
	tell(true)
	return &workClock{
		left: limit, since: time.Now(), running: true, tell: tell,
		timer: time.AfterFunc(limit, func() { end(errTurnTime) }),
	}
}

// stop stops the clock. A clock that has run out stays so.
func (c *workClock) stop() {
	if c.running {
		c.running = false
		c.timer.Stop()
		c.left -= time.Since(c.since)
		c.tell(false)
	}
}

// rest stops the clock until back is called.
func (c *workClock) rest() (back func()) {
	if !c.running {
		return func() {}
	}
	c.stop()
	return c.start
}

// remains is how long the turn may still work.
func (c *workClock) remains() time.Duration {
	if c.running {
		return c.left - time.Since(c.since)
	}
	return c.left
}

// start lets the clock run again.
func (c *workClock) start() {
	if !c.running {
		c.running, c.since = true, time.Now()
		c.timer.Reset(max(c.left, 0))
		c.tell(true)
	}
}
