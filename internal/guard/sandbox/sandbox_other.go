//go:build !linux

package sandbox

import (
	"context"
	"errors"

	"podd/internal/commands/process"
)

var errNotLinux = errors.New("it needs Linux")

func (s *Sandbox) try(context.Context) error { return errNotLinux }

func (s *Sandbox) wrap(*Command, Scope, []string) error { return errNotLinux }

// Limits are empty here.
func (s *Sandbox) Limits() process.Limits { return process.Limits{} }

func memory() int64 { return 0 }

// Main does nothing here.
func Main() {}
