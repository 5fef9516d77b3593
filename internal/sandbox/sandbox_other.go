//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

var errNotLinux = errors.New("it needs Linux")

func (s *Sandbox) try(context.Context) error { return errNotLinux }

func (s *Sandbox) wrap(*Command, Scope, []string) error { return errNotLinux }

// Limit bounds nothing here.
func (s *Sandbox) Limit(int) error { return nil }

func memory() int64 { return 0 }

// Main does nothing here.
func Main() {}
