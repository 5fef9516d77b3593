//go:build !linux

package process

import "time"

// CommandGroup makes none: there are no control groups here.
func CommandGroup() (dir string, remove func()) { return "", func() {} }

// Crowded is false here.
func Crowded() (most int, crowded bool) { return 0, false }

// Tasks is 0 here.
func (t *Tree) Tasks() int { return 0 }

func blockFor(time.Duration) {}
