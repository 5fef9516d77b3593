// Package retention decides which old entries of logs are removed, and has them
// removed. It owns the rule; how a log loses its beginning is package store's.
//
// Only whole turns go, and only what the last compaction stands for in what is sent:
// a pod's next request is the same with or without them. What must outlive them, the
// setup and what they counted, stands in the entry that takes their place. The inbox,
// open turns with their approvals, and alerts that nobody acknowledged stay.
//
// A Sweeper belongs to one goroutine. It needs no pod to stand still: a purge that was
// decided on a log that has grown since is refused, and decided anew the next time.
package retention
