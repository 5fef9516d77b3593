//go:build integrations

// Package release makes a release of podd for this machine, and installs it as people do.
package release
