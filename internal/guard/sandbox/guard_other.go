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

// Unheld is empty.
func (s *Sandbox) Unheld(Scope) string { return "" }

// Held is empty.
func (g *Guard) Held() []string { return nil }

// Open is empty.
func (g *Guard) Open() string { return "" }

// Watch does nothing.
func (g *Guard) Watch(func() (string, error), *slog.Logger) {}

// End is for the end of the command.
func (g *Guard) End() []Moved { return nil }

// Close does nothing.
func (g *Guard) Close() {}

// Allow does nothing.
func (s *Sandbox) Allow(string) {}
