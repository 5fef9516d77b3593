// Package spool owns the files with the full text of tool outputs: one folder per pod,
// one file per output, mode 0600, below one directory.
//
// A quota over all pods and an age bound what is kept. Files beyond either are removed,
// the oldest first: when the spool is opened, when a pod's folder is opened, and whenever
// a file is added. A [File] that is still being written is never removed and uses no
// quota; both begin when it is kept.
//
// A [Job] is such a file with a record beside it, by which a new podd finds the end of
// the command after the old one was killed. Open does not remove either. A record that is buried is
// kept like an output.
//
// Files are not synced. A kept file may be missing after a power cut, as it may be once
// the quota is used up. A result that names a file says where the text was, not that it
// still exists.
//
// The directory is for one [Spool] at a time. Its methods may be called from any
// goroutine; it starts none.
package spool
