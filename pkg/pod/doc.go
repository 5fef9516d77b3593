// Package pod hosts pods: it creates and opens them, accepts submits, runs their turns,
// streams their logs and repairs what a crash left open.
//
// A loaded pod is one goroutine (actor), which owns the pod's state; others reach it
// through a mailbox. A turn runs in its own goroutine beside it and commits through the
// same mailbox, so that a pod's log has one writer. A pod is loaded when it is needed and
// passivated after a while without use: its memory is released, its log stays.
//
// Pod and turn are two goroutines because a pod admits submits, answers cancels and stops
// while its turn waits for the model. In one loop for both, each step of a turn would be a
// state of that loop. The turn owns the fold while it runs, fragments of text bypass the
// mailbox, and a submit can wait for one sync of its own pod.
//
// A wing adds to pods, and the core knows none ([Wing], [Host.Alone], [Host.Record]). All
// wings share one kind of entry: the wing, its name for the kind, one line for people, one
// JSON object, which the wing checks when it decodes it. So any client shows the line, also
// when podd no longer has the wing. What the model should read is a note in the same commit:
// a note waits for the next step, wakes a pod, and survives forks and rewinds. The kinds job
// and note are the core's, because they change a pod's state and its requests.
//
// The Host waits for all of these goroutines in Close.
package pod
