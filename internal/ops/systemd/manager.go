package systemd

import (
	"net"
	"strings"
)

// Manager is the service manager that podd reports to. Its methods may be called from any
// goroutine, and on nil, where they do nothing. A lost message is not an error: the manager
// sees the process itself.
type Manager struct {
	addr net.UnixAddr
}

// newManager is the manager at the socket of NOTIFY_SOCKET; nil if that is empty. A name
// that begins with @ is in Linux's abstract namespace, as in package net.
func newManager(socket string) *Manager {
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") {
		return nil
	}
	return &Manager{net.UnixAddr{Name: socket, Net: "unixgram"}}
}

// Ready reports that podd answers, with a status for people. It also ends Reloading.
func (m *Manager) Ready(status string) { m.send("READY=1", "STATUS="+status) }

// Reloading reports that podd is reloading its configuration.
func (m *Manager) Reloading() { m.send("RELOADING=1") }

// Stopping reports that podd is stopping.
func (m *Manager) Stopping(status string) { m.send("STOPPING=1", "STATUS="+status) }

func (m *Manager) send(lines ...string) {
	if m == nil {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &m.addr)
	if err != nil {
		return
	}
	defer conn.Close()
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\n", " ")
	}
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}
