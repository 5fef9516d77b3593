package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/socket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a short path in a private directory; t.TempDir may be too long.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "podd") //nolint:usetesting // t.TempDir has the test's name in it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "run", "s.sock")
}

func listen(t *testing.T, path string) *socket.Listener {
	t.Helper()
	l, err := socket.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func wantError(t *testing.T, err error, kind item.ErrorKind, reason string, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", reason)
	}
	if item.KindOf(err) != kind || item.ReasonOf(err) != reason {
		t.Errorf("error %q is %s %s, want %s %s", err, item.KindOf(err), item.ReasonOf(err), kind, reason)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// answers says whether l answers at path.
func answers(t *testing.T, l net.Listener, path string) {
	t.Helper()
	var served sync.WaitGroup
	served.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "here")
		_ = conn.Close()
	})
	defer served.Wait()
	conn, err := net.Dial("unix", path)
	if err != nil {
		l.Close()
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "here" {
		t.Errorf("got %q, %v", got, err)
	}
}

// stale leaves a socket behind at path, as a killed process does.
func stale(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

// A podd killed while it starts a command may leave a socket that still answers. Listen
// replaces that socket as soon as it stops answering.
func TestListenWaitsForWhatWasLeft(t *testing.T) {
	path := place(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	asked := make(chan error, 1)
	go func() {
		conn, err := left.Accept()
		if err == nil {
			err = conn.Close()
		}
		asked <- errors.Join(err, left.Close())
	}()
	l := listen(t, path)
	if err := <-asked; err != nil {
		t.Error(err)
	}
	answers(t, l, path)
}

func TestListen(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	if l.Path() != path {
		t.Errorf("path %s, want %s", l.Path(), path)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v, want %04o", name, info.Mode(), err, want)
		}
	}
	answers(t, l, path)

	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	answers(t, listen(t, path), path)
}

func TestListenReplacesAStaleSocket(t *testing.T) {
	path := place(t)
	stale(t, path)
	answers(t, listen(t, path), path)
}

func TestSecondListenNamesTheHolder(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	_, err := socket.Listen(t.Context(), path)
	wantError(t, err, item.KindPrecondition, "HELD", "another podd (pid ", path)
	answers(t, l, path)
}

// Two podds start at once over a stale socket: one gets it and keeps it.
func TestManyListenAtOnce(t *testing.T) {
	path := place(t)
	stale(t, path)
	const starts = 8
	won := make(chan *socket.Listener, starts)
	var all sync.WaitGroup
	for range starts {
		all.Go(func() {
			l, err := socket.Listen(t.Context(), path)
			if err == nil {
				won <- l
			} else if item.ReasonOf(err) != "HELD" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("%d of %d listen", len(won), starts)
	}
	l := <-won
	defer l.Close()
	answers(t, l, path)
}

func TestListenTakesNoSocketThatAnswers(t *testing.T) {
	path := place(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	foreign, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	_, err = socket.Listen(t.Context(), path)
	wantError(t, err, item.KindPrecondition, "SOCKET_IN_USE", path, "--socket")
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the other program's socket is gone: %v", err)
	}
	// The failed start keeps nothing open.
	lock, err := paths.LockSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}

// A program whose queue is full is busy, not gone: Listen does not replace its socket.
func TestListenTakesNoSocketOfABusyProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a full queue looks like a stale socket")
	}
	path := place(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	waiting, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if _, err := net.Dial("unix", path); !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("the queue is not full: %v", err)
	}
	_, err = socket.Listen(t.Context(), path)
	wantError(t, err, item.KindPrecondition, "SOCKET_IN_USE")
}

func TestListenRemovesNoFile(t *testing.T) {
	path := place(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := socket.Listen(t.Context(), path)
	wantError(t, err, item.KindPrecondition, "NOT_A_SOCKET", path, "move it away")
	if content, err := os.ReadFile(path); err != nil || string(content) != "precious" {
		t.Errorf("the file holds %q, %v", content, err)
	}
}

func TestCloseLeavesAnothersSocket(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	foreign, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	answers(t, foreign, path)
}

func TestListenRefusesThePlace(t *testing.T) {
	_, err := socket.Listen(t.Context(), "/"+strings.Repeat("s", paths.MaxSocketPath))
	wantError(t, err, item.KindInvalid, "SOCKET_PATH_TOO_LONG")

	path := place(t)
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = socket.Listen(t.Context(), path)
	wantError(t, err, item.KindPrecondition, "DIRECTORY_NOT_PRIVATE")
}

func TestListenAfterItsContext(t *testing.T) {
	path := place(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stale(t, path)
	_, err := socket.Listen(ctx, path)
	wantError(t, err, item.KindPrecondition, "LISTEN", "canceled")
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket was removed without a failed dial: %v", err)
	}
}
