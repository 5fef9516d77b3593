// Package systemd implements the two small protocols between a service manager and the
// daemon that it starts: passed sockets (sd_listen_fds(3)) and messages about the daemon's
// state (sd_notify(3)). It works with any manager that uses these protocols.
//
// coreos/go-systemd does not remove NOTIFY_SOCKET at once, so that a command could speak for
// podd. The watchdog is not used: a restart does not fix what makes podd slow, such as a disk.
//
// Rank 1: it imports pkg/item.
package systemd
