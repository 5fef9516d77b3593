// Package fold computes the state that follows from a pod's log, entry by entry. State is
// the state of the pod: its last turn, open questions, waiting notes, what was billed.
// Context is the content of the next request, and decides what to prune. The package
// reads no clock and no file: the same log always gives the same result.
package fold
