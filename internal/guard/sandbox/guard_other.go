//go:build !linux

package sandbox

import "log/slog"

type spare struct{}

// Guard guards nothing here.
type Guard struct{}

// Guard is one that guards nothing.
func (s *Sandbox) Guard(Scope, []string) (*Guard, error) { return &Guard{}, nil }

// Resume is a guard that guards nothing.
func (s *Sandbox) Resume(GuardNote) *Guard { return &Guard{} }

// Note says nothing.
func (g *Guard) Note() (*GuardNote, error) { return nil, nil }

// Held is empty.
func (g *Guard) Held() []string { return nil }

// Watch does nothing.
func (g *Guard) Watch(func() (string, error), *slog.Logger) {}

// End is for the end of the command.
func (g *Guard) End() Undone { return Undone{} }

// Stubborn is empty.
func (g *Guard) Stubborn() string { return "" }

// Close does nothing.
func (g *Guard) Close() {}

// Allow does nothing.
func (s *Sandbox) Allow(string) {}
