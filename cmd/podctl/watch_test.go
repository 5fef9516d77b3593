package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poddv1 "podd/proto/podd/v1"
)

// counting is a podd whose pods have one more turn at every second request. It is
// unavailable at the third request and ends the watch at the last one.
type counting struct {
	poddv1.UnimplementedPodServiceServer
	asked, last int
	end         func()
}

// GetStats answers one request at a time.
func (c *counting) GetStats(context.Context, *poddv1.GetStatsRequest) (*poddv1.GetStatsResponse, error) {
	c.asked++
	switch c.asked {
	case 3:
		return nil, status.Error(codes.Unavailable, "gone\x1b[31m")
	case c.last:
		c.end()
	}
	return &poddv1.GetStatsResponse{Turns: int64(c.asked / 2)}, nil
}

// watchCounting runs podctl against a counting podd until that has answered last times.
func watchCounting(t *testing.T, last int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	poddv1.RegisterPodServiceServer(server, &counting{last: last, end: cancel})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { server.Stop(); <-served }()

	var out, errs bytes.Buffer
	code = run(ctx, append(args, "--socket", filepath.Join(dir, "s")), program{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }, now: time.Now, every: time.Millisecond,
	})
	return code, out.String(), errs.String()
}

// watch prints an answer only when it changed, until the user ends it. It waits for a
// podd that is away for a while.
func TestWatch(t *testing.T) {
	code, out, stderr := watchCounting(t, 7, "stats", "--watch", "-o", "json")
	var turns []string
	for line := range strings.Lines(out) {
		_, rest, _ := strings.Cut(line, `"turns":`)
		n, _, _ := strings.Cut(strings.Trim(rest, ` "`), `"`)
		turns = append(turns, n)
	}
	// The answer that ends the watch may arrive too late to be shown.
	if got := strings.TrimSuffix(strings.Join(turns, " "), " 3"); code != exitInterrupted || got != "0 1 2" {
		t.Errorf("exit code %d, turns %q", code, turns)
	}
	if strings.Count(stderr, "! lost the connection to podd; retrying: ") != 1 || !strings.HasSuffix(stderr, "podctl: interrupted\n") || strings.Contains(stderr, "\x1b") {
		t.Errorf("standard error %q", stderr)
	}

	code, out, _ = watchCounting(t, 7, "stats", "--watch")
	if code != exitInterrupted || !strings.HasPrefix(out, "turns: 0\n") || strings.Count(out, "\n\nturns: ") < 2 || strings.Contains(out, "\x1b") {
		t.Errorf("exit code %d, standard output\n%s", code, out)
	}
}

// An error as the first answer ends the watch.
func TestWatchOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gated(nil))
	if _, stderr := w.podctl("stats", "unknown", "--watch").run(exitNotFound); !strings.Contains(stderr, "unknown") {
		t.Errorf("standard error %q", stderr)
	}
}

func TestFrames(t *testing.T) {
	f := &frames{inPlace: true, height: func() int { return 3 }}
	for _, tt := range []struct{ text, want string }{
		{"one\n", "\x1b[H\x1b[2Jone\x1b[K\n\x1b[J"},
		{"two\n2\n", "\x1b[Htwo\x1b[K\n2\x1b[K\n\x1b[J"},
		{"more\nthan\nfits\n", "\x1b[Hmore\x1b[K\nthan\x1b[K\n\x1b[J"},
		{"", "\x1b[H\x1b[J"},
	} {
		if got := string(f.next([]byte(tt.text))); got != tt.want {
			t.Errorf("%q is drawn as %q, want %q", tt.text, got, tt.want)
		}
	}
	f = &frames{}
	if got := string(f.next([]byte("a\n"))) + string(f.next([]byte("b\n"))); got != "a\n\nb\n" {
		t.Errorf("below each other: %q", got)
	}
}
