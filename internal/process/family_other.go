//go:build !linux

package process

// strays are not seen.
type strays struct{}

// follow has nothing to look at.
func (t *Tree) follow() {}
