//go:build !linux

package process

// sightings are empty.
type sightings struct{}

// Follow does nothing.
func (t *Tree) Follow() {}
