package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func TestNewRefusesASocketThatCannotBe(t *testing.T) {
	_, err := client.New(client.Config{})
	wantError(t, err, item.KindInvalid, "NO_SOCKET")
	_, err = client.New(client.Config{Socket: "/" + strings.Repeat("x", 200)})
	wantError(t, err, item.KindInvalid, "SOCKET_PATH_TOO_LONG")
}

func TestUnreachable(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, socket string)
		says    string
	}{
		"nothing there": {func(*testing.T, string) {}, "does not exist"},
		"a file": {func(t *testing.T, socket string) {
			if err := os.WriteFile(socket, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a socket"},
		"no listener": {func(t *testing.T, socket string) {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
		}, "connection refused"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			tt.prepare(t, p.socket)
			_, err := p.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
			e := wantError(t, err, item.KindUnavailable, "UNREACHABLE")
			for _, want := range []string{p.socket, tt.says, "podd &"} {
				if !strings.Contains(e.Message, want) {
					t.Errorf("%q does not say %q", e.Message, want)
				}
			}
		})
	}
}

// A repeatable call does not wait for a podd that never answered.
func TestUnreachableIsNotWaitedFor(t *testing.T) {
	c := newPeer(t).client(func(cfg *client.Config) { cfg.RetryFor = 24 * time.Hour })
	_, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p"})
	wantError(t, err, item.KindUnavailable, "UNREACHABLE")
	for _, err := range c.Stream(t.Context(), client.StreamOptions{Pod: "p", Follow: true}) {
		wantError(t, err, item.KindUnavailable, "UNREACHABLE")
	}
}

func TestSocketOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	p := newPeer(t)
	p.status = alive
	p.start()
	if err := os.Chown(p.socket, 12345, -1); err != nil {
		t.Skip(err)
	}
	_, err := p.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	if e := wantError(t, err, item.KindDenied, "SOCKET_NOT_OURS"); !strings.Contains(e.Message, "12345") {
		t.Errorf("%q does not say whose it is", e.Message)
	}
}

func TestSocketThatMayNotBeOpened(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may open everything")
	}
	p := newPeer(t)
	p.status = alive
	p.start()
	if err := os.Chmod(p.socket, 0); err != nil {
		t.Fatal(err)
	}
	_, err := p.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	wantError(t, err, item.KindDenied, "SOCKET_DENIED")
}

// The client is created before podd starts; the first call connects.
func TestConnectsAtTheFirstCall(t *testing.T) {
	p := newPeer(t)
	c := p.client()
	p.status = alive
	p.start()
	resp, err := c.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	if err != nil || resp.GetVersion() != "test" {
		t.Fatalf("got %v, %v", resp, err)
	}
}

func TestErrorsKeepTheirVocabulary(t *testing.T) {
	p := newPeer(t)
	p.start()
	c := p.client()
	want := item.Errorf(item.KindOutOfRange, "PURGED", "gone")
	want.Meta = map[string]string{"first_seq": "7"}
	p.status = func(context.Context) (*poddv1.GetStatusResponse, error) { return nil, want }
	_, err := c.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	if e := wantError(t, err, want.Kind, want.Reason); e.Message != "gone" || e.Meta["first_seq"] != "7" {
		t.Errorf("got %+v", e)
	}
	p.stream = func(*poddv1.StreamRequest, poddv1.PodService_StreamServer) error { return want }
	for _, err := range c.Stream(t.Context(), client.StreamOptions{Pod: "p"}) {
		wantError(t, err, want.Kind, want.Reason)
	}
	_, err = c.Pods().Pause(t.Context(), &poddv1.PauseRequest{})
	wantError(t, err, item.KindUnimplemented, "UNKNOWN_CALL")
}

func TestCancelledCallIsCancelled(t *testing.T) {
	p := newPeer(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.status = func(server context.Context) (*poddv1.GetStatusResponse, error) {
		cancel()
		<-server.Done()
		return nil, server.Err()
	}
	p.start()
	_, err := p.client().Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A stopping podd may end a call as cancelled, although the caller did not cancel it.
func TestCallThatPoddEndedIsNotCancelled(t *testing.T) {
	p := newPeer(t)
	p.status = func(context.Context) (*poddv1.GetStatusResponse, error) { return nil, context.Canceled }
	p.start()
	_, err := p.client().Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
	wantError(t, err, item.KindUnavailable, "CALL_ENDED")
}

func TestMessageCap(t *testing.T) {
	p := newPeer(t)
	p.submit = func(_ context.Context, r *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
		return &poddv1.SubmitResponse{RequestId: r.GetSegments()[0].GetText().GetText()}, nil
	}
	p.start()
	c := p.client()
	send := func(size int) (*poddv1.SubmitResponse, error) {
		text := &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: strings.Repeat("a", size)}}
		return c.Submit(t.Context(), &poddv1.SubmitRequest{Segments: []*poddv1.Segment{{Kind: text}}})
	}
	const large = client.MaxMessageBytes - 1<<10
	resp, err := send(large)
	if err != nil || len(resp.GetRequestId()) != large {
		t.Fatalf("a message below the cap did not come back: %v", err)
	}
	_, err = send(client.MaxMessageBytes)
	wantError(t, err, item.KindExhausted, "MESSAGE_TOO_LARGE")
}

func TestTokenGoesWhereItIsNeeded(t *testing.T) {
	p := newPeer(t)
	var shown []string
	p.create = func(ctx context.Context) error {
		if shown = authorization(ctx); shown == nil {
			return wire.ToStatus(item.Errorf(item.KindUnauthenticated, "CLIENT_TOKEN", "this call needs the client token"))
		}
		return nil
	}
	p.status = func(ctx context.Context) (*poddv1.GetStatusResponse, error) {
		if got := authorization(ctx); got != nil {
			t.Errorf("GetStatus was sent %q", got)
		}
		return alive(ctx)
	}
	p.start()
	state := t.TempDir()
	c := p.client(func(cfg *client.Config) { cfg.StateDir = state })
	if _, err := c.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{}); err != nil {
		t.Fatalf("a call that needs no token failed without one: %v", err)
	}
	_, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{})
	wantError(t, err, item.KindUnauthenticated, "CLIENT_TOKEN")
	if !strings.Contains(err.Error(), state) {
		t.Errorf("the error does not name the place of the token: %v", err)
	}

	for _, digit := range []string{"a", "b"} {
		token := strings.Repeat(digit, 64)
		if err := os.WriteFile(filepath.Join(state, "client.token"), []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{}); err != nil {
			t.Fatal(err)
		}
		if len(shown) != 1 || shown[0] != "Bearer "+token {
			t.Errorf("podd was shown %q", shown)
		}
	}
	if _, err := c.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{}); err != nil {
		t.Fatal(err)
	}
}
