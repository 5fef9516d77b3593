package process

// GroupMembers is the file of a control group that a process is written to.
const GroupMembers = "cgroup.procs"

// Limits bound what a process, and each process that it starts later, may use. A zero
// field sets no limit.
type Limits struct {
	// NoCore prevents core files.
	NoCore bool
	// FileBytes is the largest size of a file that it writes, in bytes.
	FileBytes uint64
	// Tasks is the number of processes and threads of its user. The kernel does not enforce
	// it for root.
	Tasks uint64
	// OOMScore, up to 1000, makes the kernel prefer it when memory runs out.
	OOMScore int
	// Group is the directory of the control group that it joins; empty means that it stays where it is.
	Group string
}
