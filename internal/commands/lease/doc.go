// Package lease is the time until which commands of movable pods may run on this node.
//
// Another node may take over a movable pod some time after this node has last renewed its lease
// in the database. Its commands must have ended before that, whatever stopped podd from renewing
// it. So the deadline is in a file that podd writes, and the processes that start commands read it:
// each of them by itself refuses to start commands after it, and kills those that run.
//
// The file has one word: the deadline on CLOCK_BOOTTIME, which goes on while the machine sleeps, in
// nanoseconds. It is mapped and written at once, so that a reader sees the old deadline or the new
// one. A deadline is never further away than For: a file that says so is damaged. With a damaged
// file, one that was cut off, or none, the lease is over.
//
// podd reads the clock before it renews its lease in the database. Commands with a deadline need
// bwrap: only a namespace of processes ends with all that was started in it. Turns need no
// deadline: the store refuses their next entry once another node has the pod.
//
// Only Linux has leases.
package lease

import (
	"errors"
	"time"
)

// For is how long a renewal lasts, counted from before it was sent. The database lends for longer:
// the difference is the time in which commands are killed.
const For = 3 * time.Second

// ErrOver is for commands that the end of the lease ended, or kept from starting.
var ErrOver = errors.New("this node lost its lease in the database, so another node may have the pod")
