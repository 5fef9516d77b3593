//go:build !linux

package process

// sightings are empty.
type sightings struct{}

// follow does nothing.
func (t *Tree) follow() {}
