package socket_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/item"
	"podd/pkg/socket"
)

// If a socket's file or whole directory is removed, Heal recreates it: the same listener
// answers there, and earlier connections continue.
func TestHeal(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	for _, gone := range []string{path, filepath.Dir(path)} {
		heal(t, l, false)
		old, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		heal(t, l, true)
		answers(t, l, path)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the socket has mode %v, %v", info.Mode(), err)
		}
		if _, err := accepted.Write([]byte("x")); err != nil {
			t.Errorf("the old connection: %v", err)
		}
		_, _ = accepted.Close(), old.Close()
	}
}

// A pending Accept gets the next connection.
func TestHealWhileAccepting(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	accepted := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = conn.Close()
		}
		accepted <- err
	}()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	heal(t, l, true)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}

// Another file in the socket's place stays, at Heal and at Close. Once it is gone, Heal
// recreates the socket.
func TestHealReplaced(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	for name, put := range map[string]func() func(){
		"file": func() func() {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return func() {}
		},
		"socket": func() func() {
			other, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			other.(*net.UnixListener).SetUnlinkOnClose(false)
			return func() { _ = other.Close() }
		},
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		end := put()
		_, err := l.Heal(t.Context())
		wantError(t, err, item.KindPrecondition, "SOCKET_REPLACED", path, "remove the file")
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		end()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		heal(t, l, true)
		answers(t, l, path)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("Close removed another's file: %q, %v", text, err)
	}
}

// A closed listener recreates nothing.
func TestHealClosed(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	heal(t, l, false)
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is back")
	}
}

func heal(t *testing.T, l *socket.Listener, want bool) {
	t.Helper()
	if healed, err := l.Heal(t.Context()); err != nil || healed != want {
		t.Errorf("healed %v, %v, want %v", healed, err, want)
	}
}
