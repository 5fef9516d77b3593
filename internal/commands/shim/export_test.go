package shim

import (
	"maps"
	"slices"
	"time"
)

// SetIdle sets how long a shim without a command is kept.
func (c *Client) SetIdle(d time.Duration) { c.idle = d }

// Asked is the number of requests that shims have not answered.
func (c *Client) Asked() (n int) {
	c.mu.Lock()
	shims := slices.Collect(maps.Values(c.shims))
	c.mu.Unlock()
	for _, s := range shims {
		s.sending.Lock()
		s.mu.Lock()
		n += len(s.asked)
		s.mu.Unlock()
		s.sending.Unlock()
	}
	return n
}
