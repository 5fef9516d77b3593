// Package service runs podd in the background as a service of one user: with units for
// systemd's user manager, or with an agent for launchd on macOS. It writes their files, makes
// the manager load them, and reports their state. It never writes a secret to them.
//
// Rank 1: it imports pkg/item.
package service
