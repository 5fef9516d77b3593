package socket

import (
	"errors"
	"net"
	"syscall"
)

// PeerUID is the user id of the process at the other end of a Unix socket connection, as the
// kernel recorded it when the connection was made: for a server the process that connected,
// for a client the one that started to listen. The peer cannot change it.
func PeerUID(conn net.Conn) (int, error) {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return -1, errors.New("cannot determine the peer: the connection has no descriptor")
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
