package systemd

import (
	"net"
	"strings"
)

// Manager is the service manager that listens to podd. Its methods may be called from
// any goroutine, and on nil, which tells nobody. A message that does not arrive is no
// failure of podd's: the manager sees the process itself.
type Manager struct {
	addr net.UnixAddr
}

// newManager talks to the socket of NOTIFY_SOCKET; nil when there is none. A name that
// begins with @ is in Linux's abstract namespace, as package net has it too.
func newManager(socket string) *Manager {
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") {
		return nil
	}
	return &Manager{net.UnixAddr{Name: socket, Net: "unixgram"}}
}

// Ready says that podd answers, and how it does in words for a person. It also ends what
// Reloading began.
func (m *Manager) Ready(status string) { m.send("READY=1", "STATUS="+status) }

// Reloading says that podd reads its configuration again.
func (m *Manager) Reloading() { m.send("RELOADING=1") }

// Stopping says that podd has begun to end.
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
