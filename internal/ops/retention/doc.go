// Package retention decides which old entries of logs to remove, and removes them. It owns
// the rule; package store removes the start of a log.
//
// Only whole turns are removed, and only those that the last compaction has replaced in
// requests: a pod's next request is the same with or without them. The entry that replaces
// them keeps what must outlive them: the setup and the totals. The inbox, open turns with
// their approvals, and unacknowledged alerts stay.
//
// A Sweeper belongs to one goroutine. Pods keep running meanwhile: a purge of a log that has
// grown since the decision is refused, and decided again the next time.
package retention
