//go:build integrations

// Package upgrade replaces podd by another build while pods work, and back.
package upgrade
