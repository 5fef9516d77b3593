// Package pod hosts pods: it creates and opens them, takes submits, runs their
// turns, streams their logs and repairs what a crash left open.
//
// A pod that is loaded is one goroutine (actor), which owns the pod's state;
// others talk to it through a mailbox. A turn runs in a goroutine of its own beside
// it and commits through the same mailbox, so that a pod's log has one writer. A
// pod is loaded when someone needs it and passivated when nobody has for a while:
// its memory is given back, its log stays.
//
// The Host waits for all of these goroutines in Close.
package pod
