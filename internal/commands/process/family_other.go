//go:build !linux

package process

// sightings are none.
type sightings struct{}

// follow has nothing to look at.
func (t *Tree) follow() {}
