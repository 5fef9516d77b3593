// Package systemd speaks the two small protocols between a service manager and the
// daemon that it starts: sockets that are passed on (sd_listen_fds(3)) and messages about
// the daemon's state (sd_notify(3)). Both are a few lines over the environment; a
// manager other than systemd that speaks them serves as well.
//
// Rank 1: it imports pkg/item.
package systemd
