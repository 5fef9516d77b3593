// Package service lets podd run in the background as a service of one user: units for
// systemd's user manager, an agent for launchd on macOS. It writes their files, has the
// manager take them up, and says what there is to know about them. No secret is ever
// written to them.
//
// Rank 1: it imports pkg/item.
package service
