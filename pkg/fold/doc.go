// Package fold reads a pod's log, entry by entry, into what the pod is: where its last turn
// stands, what waits, who is asked, what was billed. The log is the truth; a fold is what
// follows from it.
package fold
