// Package scratch owns directories on podd's own disk that commands fill as they like: the /tmp
// of a pod, and the caches that the pods of one workspace share.
//
// A [Dir] may use as much as the disk has left, so that no command takes the disk from the
// others. A fixed size fits no two machines, a memory file system is too small for builds, and
// quotas need root. [Caches] have a bound together besides.
//
// A cache is as trusted as the files that it is built from: an agent's branch must not reach a
// person's directory by it, so each workspace has its own. A cache of each pod's own would make
// every new pod compile everything again.
package scratch
