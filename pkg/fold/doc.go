// Package fold reads a pod's log, entry by entry, into what follows from it. A State is where
// the pod stands: its last turn, the questions, the notes, what was billed. A Context is what
// the next request carries, and decides what of that is pruned. Nothing here reads a clock or
// a file: the same log folds into the same.
package fold
