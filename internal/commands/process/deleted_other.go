//go:build !linux

package process

// Deleted is for Linux.
func (t *Tree) Deleted(uint64) (bytes, files int64) { return 0, 0 }
