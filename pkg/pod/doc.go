// Package pod hosts pods: it creates and opens them, accepts submits, runs their turns,
// streams their logs and repairs what a crash left open.
//
// A loaded pod is one goroutine (actor), which owns the pod's state; others reach it
// through a mailbox. A turn runs in its own goroutine beside it and commits through the
// same mailbox, so that a pod's log has one writer. A pod is loaded when it is needed and
// passivated after a while without use: its memory is released, its log stays.
//
// The Host waits for all of these goroutines in Close.
package pod
