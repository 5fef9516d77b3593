//go:build integrations

// Package service tests podd as a service of systemd's user manager, and its Debian
// package.
package service
