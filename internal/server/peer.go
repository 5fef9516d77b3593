package server

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"

	"podd/internal/socket"
	"podd/pkg/item"
)

// peerCredentials note who is at the other end of each connection. They encrypt
// nothing: a Unix socket goes through the kernel alone.
type peerCredentials struct {
	credentials.TransportCredentials
}

func newPeerCredentials() credentials.TransportCredentials {
	return peerCredentials{insecure.NewCredentials()}
}

// ServerHandshake asks the kernel for the peer. A stranger's connection is not cut
// here, so that each of its calls can say why it is refused.
func (p peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	info := peerInfo{conn: conn}
	info.uid, info.err = socket.PeerUID(conn)
	return conn, info, nil
}

// Clone is a copy.
func (p peerCredentials) Clone() credentials.TransportCredentials { return p }

// peerInfo is what is known of a connection's other end.
type peerInfo struct {
	conn net.Conn
	uid  int
	// err says why uid is not known.
	err error
}

// AuthType names the way in which the peer was told.
func (peerInfo) AuthType() string { return "unix" }

func peerOf(ctx context.Context) (peerInfo, bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return peerInfo{}, false
	}
	info, ok := p.AuthInfo.(peerInfo)
	return info, ok
}

// checkPeer refuses everyone but the user with the id owner, root too: what root
// asks for here would be done as that user.
func checkPeer(ctx context.Context, owner int) error {
	info, ok := peerOf(ctx)
	if ok && info.err == nil && info.uid == owner {
		return nil
	}
	if !ok || info.err != nil {
		return item.Errorf(item.KindDenied, "PEER_UNKNOWN",
			"podd cannot tell which user is calling, so it refuses: connect over its Unix socket")
	}
	return item.Errorf(item.KindDenied, "PEER_NOT_OURS",
		"this podd serves user %d alone and you are user %d: start a podd of your own with `podd &`", owner, info.uid)
}

// busy counts a call on its connection, which is then not taken for an idle one;
// ended says that it is over.
func busy(ctx context.Context) (ended func()) {
	if info, ok := peerOf(ctx); ok {
		if conn, ok := info.conn.(*socket.Conn); ok {
			conn.Begin()
			return conn.End
		}
	}
	return func() {}
}
