package socket

import (
	"errors"
	"net"
	"syscall"
)

// PeerUID is the user id of the process at the other end of a connection over a
// Unix socket, as the kernel noted it when the connection was made: for a server
// the process that connected, for a client the one that began to listen. Nothing
// that the peer sends can change it.
func PeerUID(conn net.Conn) (int, error) {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return -1, errors.New("the connection has no descriptor to ask for its peer")
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return -1, err
	}
	uid := -1
	if cerr := control.Control(func(fd uintptr) { uid, err = peerUID(int(fd)) }); cerr != nil {
		return -1, cerr
	}
	return uid, err
}
