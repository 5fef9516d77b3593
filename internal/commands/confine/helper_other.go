//go:build !linux

package confine

// Main does nothing here.
func Main() {}
