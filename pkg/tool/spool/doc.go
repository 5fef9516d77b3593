// Package spool owns the files that hold the full text of tool outputs: one folder
// a pod, one file an output, mode 0600, below one directory.
//
// What is kept is bounded by a quota over all pods and by an age. Files over either
// go, the oldest first: when the spool is opened, when a pod's folder is asked for,
// and whenever a file is added. A [File] that is still being written is in nobody's
// way: it counts from when it is kept, and until then nothing removes it.
//
// A [Job] is such a file too, with a record beside it, by which a podd that was killed
// is followed by one that finds the command's end. Open leaves both alone.
//
// Files are not synced. What is kept may be missing after a power cut, as it is
// after the quota; a result that names a file says where the text was, not that it
// is still there.
//
// The directory is for one [Spool] at a time. Its methods may be called from any
// goroutine; it starts none.
package spool
