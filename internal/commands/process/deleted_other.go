//go:build !linux

package process

// Deleted works only on Linux.
func (t *Tree) Deleted(uint64) (bytes, files int64) { return 0, 0 }
