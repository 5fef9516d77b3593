// Package scratch owns directories on podd's own disk that commands fill as they like: the /tmp
// of a pod, and the caches that the pods of one workspace share.
//
// A [Dir] may use as much as the disk has left, so that no command takes the disk from the
// others. A fixed size fits no two machines, a memory file system is too small for builds, and
// quotas need root. [Caches] have a bound together besides.
package scratch
