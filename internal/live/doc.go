// Package live is the part of a pod's log that is not on disk yet: how far the log
// reaches, and the text so far of what is unfinished.
//
// The log is the queue: a Broadcast never holds entries, it only wakes readers,
// who read the log themselves. Nor does it queue fragments: a reader remembers how
// much of each unfinished block it has seen and takes the rest in one piece. So a
// slow reader slows nobody, costs no memory but its offsets, and gets larger
// pieces. What it has not seen of a block when the block's entry is stored, it
// reads in the entry.
package live
