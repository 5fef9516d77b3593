package server

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"

	"podd/pkg/item"
	"podd/pkg/socket"
)

// peerCredentials record the user at the other end of each connection. They do not encrypt:
// a Unix socket never leaves the kernel.
type peerCredentials struct {
	credentials.TransportCredentials
}

func newPeerCredentials() credentials.TransportCredentials {
	return peerCredentials{insecure.NewCredentials()}
}

// ServerHandshake asks the kernel for the peer. It does not close another user's connection,
// so that each call on it can be refused with a reason.
func (p peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	info := peerInfo{conn: conn}
	info.uid, info.err = socket.PeerUID(conn)
	return conn, info, nil
}

// Clone is a copy.
func (p peerCredentials) Clone() credentials.TransportCredentials { return p }

// peerInfo describes a connection's other end.
type peerInfo struct {
	conn net.Conn
	uid  int
	// err says why uid is unknown.
	err error
}

// AuthType names the method of authentication.
func (peerInfo) AuthType() string { return "unix" }

func peerOf(ctx context.Context) (peerInfo, bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return peerInfo{}, false
	}
	info, ok := p.AuthInfo.(peerInfo)
	return info, ok
}

// checkPeer refuses every user except the one with the id owner. It refuses root too:
// podd would do what root asks for as that user.
func checkPeer(ctx context.Context, owner int) error {
	info, ok := peerOf(ctx)
	if ok && info.err == nil && info.uid == owner {
		return nil
	}
	if !ok || info.err != nil {
		return item.Errorf(item.KindDenied, "PEER_UNKNOWN",
			"podd cannot determine the calling user: connect over its Unix socket")
	}
	return item.Errorf(item.KindDenied, "PEER_NOT_OURS",
		"this podd serves only user %d and you are user %d: start your own podd with `podd &`", owner, info.uid)
}

// busy counts a call on its connection, so that the connection is not idle; ended says that
// the call has ended.
func busy(ctx context.Context) (ended func()) {
	if info, ok := peerOf(ctx); ok {
		if conn, ok := info.conn.(*socket.Conn); ok {
			conn.Begin()
			return conn.End
		}
	}
	return func() {}
}
