package socket_test

import (
	"net"
	"os"
	"testing"

	"podd/pkg/socket"
)

// Each end of a Unix socket finds out the user of the other end; any other connection has
// no user.
func TestPeerUID(t *testing.T) {
	l := listen(t, place(t))
	client, err := net.Dial("unix", l.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, conn := range []net.Conn{client, server} {
		if uid, err := socket.PeerUID(conn); err != nil || uid != os.Geteuid() {
			t.Errorf("uid %d, %v", uid, err)
		}
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if uid, err := socket.PeerUID(a); err == nil {
		t.Errorf("a pipe has the peer %d", uid)
	}
	_ = server.Close()
	if _, err := socket.PeerUID(server); err == nil {
		t.Error("a closed connection has a peer")
	}
}
