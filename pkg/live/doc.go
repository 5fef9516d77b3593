// Package live is the part of a pod's log that is not on disk yet: how far the log
// reaches, and the text in flight.
//
// The log is the queue: a Broadcast never stores entries. It only wakes readers, who read
// the log themselves. It does not queue fragments either: a reader remembers how much of
// each unfinished block it has seen and gets the rest in one piece. So a slow reader
// delays no other, costs only the memory of its offsets, and gets larger pieces. When a
// block's entry is stored, the reader gets the rest of the block with that entry.
package live
