package systemd

import (
	"net"
	"path/filepath"
	"testing"
)

// Each message arrives as one datagram, in the protocol's form.
func TestManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m := newManager(path)
	for want, say := range map[string]func(){
		"READY=1\nSTATUS=two lines":    func() { m.Ready("two\nlines") },
		"RELOADING=1":                  m.Reloading,
		"STOPPING=1\nSTATUS=it is off": func() { m.Stopping("it is off") },
	} {
		say()
		b := make([]byte, 1024)
		n, err := conn.Read(b)
		if err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v, want %q", b[:n], err, want)
		}
	}
}

// Without a listener nothing happens.
func TestNoManager(t *testing.T) {
	for _, socket := range []string{"", "relative", filepath.Join(t.TempDir(), "none")} {
		newManager(socket).Ready("hello")
	}
}
