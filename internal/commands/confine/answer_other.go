//go:build !linux

package confine

import "errors"

// Answer fails here.
func Answer() error {
	return errors.New("this system has neither Landlock nor a filter of system calls")
}
