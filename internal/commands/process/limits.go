package process

// Limits bound what one process, and each that it starts later, can take. Those of zero
// bound nothing.
type Limits struct {
	// NoCore keeps it from writing core files.
	NoCore bool
	// FileBytes is the largest file, in bytes.
	FileBytes uint64
	// Tasks is how many processes and threads its user may have. The kernel holds nobody
	// who is root to it.
	Tasks uint64
	// OOMScore, up to 1000, makes the kernel end it before others when memory runs out.
	OOMScore int
}
