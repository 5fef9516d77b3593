package shim

import "time"

// SetIdle sets for how long a shim without a command is kept.
func (c *Client) SetIdle(d time.Duration) { c.idle = d }
