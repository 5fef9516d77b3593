package debugserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/ops/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, socket, path string) (int, string, error) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://podd"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// A private socket serves metrics and profiles, and is removed with the server.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "debug.sock")
	fails := false
	s, err := Serve(t.Context(), Config{Path: path, Logger: slog.New(slog.DiscardHandler), Samples: func(context.Context) ([]metrics.Sample, error) {
		if fails {
			return nil, errors.New("the store is closed")
		}
		return []metrics.Sample{{Name: metrics.Streams, Value: 3}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if code, body, err := get(t, path, "/metrics"); code != http.StatusOK || !strings.Contains(body, "\npodd_streams_open 3\n") {
		t.Errorf("%d, %v, %s", code, err, body)
	}
	if code, body, err := get(t, path, "/debug/pprof/goroutine?debug=1"); code != http.StatusOK || !strings.Contains(body, "goroutine profile") {
		t.Errorf("%d, %v, %s", code, err, body)
	}
	fails = true
	if code, body, _ := get(t, path, "/metrics"); code != http.StatusServiceUnavailable || !strings.Contains(body, "the store is closed") {
		t.Errorf("%d, %s", code, body)
	}
	if _, err := Serve(t.Context(), Config{Path: path, Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("two serve at one socket")
	}
	s.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// Another user gets no answer, even if the directory permits access.
func TestStranger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	server := &http.Server{Handler: http.NotFoundHandler()} //nolint:gosec // It is closed at once.
	go func() { served <- server.Serve(own{l, os.Geteuid() + 1}) }()
	if code, _, err := get(t, path, "/metrics"); err == nil {
		t.Errorf("a stranger is answered: %d", code)
	}
	_ = server.Close()
	<-served
}
