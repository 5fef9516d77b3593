//go:build integrations

// Package service tests podd as a service of systemd's user manager.
package service
