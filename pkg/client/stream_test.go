package client_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// serveLog serves a log of entries 1 to n the way podd does.
func (p *peer) serveLog(n int64, follow func(context.Context) error) {
	p.stream = func(r *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
		for seq := r.GetAfterSeq() + 1; seq <= n; seq++ {
			if err := out.Send(note(seq)); err != nil {
				return err
			}
		}
		if err := out.Send(caughtUp(n)); err != nil || !r.GetFollow() {
			return err
		}
		return follow(out.Context())
	}
}

func seqs(from, to int64) []int64 {
	var list []int64
	for seq := from; seq <= to; seq++ {
		list = append(list, seq)
	}
	return list
}

// A client does not measure the connection: podd would have to answer its pings.
func TestStreamSendsNoPings(t *testing.T) {
	p := newPeer(t)
	var heard bytes.Buffer
	p.heard = &heard
	p.serveLog(2_000, nil)
	p.start()
	for _, err := range p.client().Stream(t.Context(), client.StreamOptions{Pod: "p"}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.stop()
	p.server = nil
	const preface, head, typeOfPing, answer = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 9, 6, 1
	frames, pings := heard.Bytes()[preface:], 0
	for len(frames) >= head {
		if frames[3] == typeOfPing && frames[4]&answer == 0 {
			pings++
		}
		size := int(frames[0])<<16 | int(frames[1])<<8 | int(frames[2])
		frames = frames[min(head+size, len(frames)):]
	}
	if pings > 0 {
		t.Errorf("the client sent %d pings", pings)
	}
}

func TestStreamEndsWhenCaughtUp(t *testing.T) {
	p := newPeer(t)
	p.serveLog(5, nil)
	p.start()
	var got []int64
	marks := 0
	for m, err := range p.client().Stream(t.Context(), client.StreamOptions{Pod: "p", After: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if e := m.GetEntry(); e != nil {
			got = append(got, e.GetSeq())
		}
		if m.GetCaughtUp() != nil {
			marks++
		}
	}
	if !slices.Equal(got, seqs(3, 5)) || marks != 1 {
		t.Errorf("got %v and %d caught_up", got, marks)
	}
}

// However often and for whatever reason streams break: each entry comes once, in order.
func TestStreamGoesOnWhereItWas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 20
		after := rapid.Int64Range(0, n).Draw(rt, "after")
		follow := rapid.Bool().Draw(rt, "follow")
		// Each connection sends the given number of entries and then ends in one of four ways.
		cuts := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 6).Draw(rt, "cuts")
		ways := rapid.SliceOfN(rapid.IntRange(0, 3), len(cuts), len(cuts)).Draw(rt, "ways")
		p := newPeer(t)
		connection := 0
		p.stream = func(r *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
			this := connection
			connection++
			left := n
			if this < len(cuts) {
				left = cuts[this]
			}
			// The client ignores entries that a server repeats.
			for seq := max(r.GetAfterSeq(), 1); seq <= n; seq++ {
				if left == 0 && this < len(cuts) {
					switch ways[this] {
					case 0:
						return errDraining
					case 1:
						return context.Canceled
					case 2:
						return nil
					default:
						return p.restart(out.Context())
					}
				}
				left--
				if err := out.Send(note(seq)); err != nil {
					return err
				}
			}
			if err := out.Send(caughtUp(n)); err != nil || !follow {
				return err
			}
			<-out.Context().Done()
			return nil
		}
		p.start()
		lost := 0
		var got []int64
		stream := p.client().Stream(t.Context(), client.StreamOptions{
			Pod: "p", After: after, Follow: follow,
			Lost: func(error) { lost++ },
		})
		for m, err := range stream {
			if err != nil {
				rt.Fatalf("after %v: %v", got, err)
			}
			if e := m.GetEntry(); e != nil {
				got = append(got, e.GetSeq())
			}
			if m.GetCaughtUp() != nil {
				break
			}
		}
		if want := seqs(after+1, n); !slices.Equal(got, want) {
			rt.Fatalf("got %v, want %v (%d connections)", got, want, connection)
		}
		if lost > connection-1 || connection > 1 && lost == 0 {
			rt.Fatalf("%d connections, %d losses told", connection, lost)
		}
	})
}

// The client does not request again what it has read: podd may have purged it since.
func TestStreamAsksForTheRest(t *testing.T) {
	p := newPeer(t)
	var asked []int64
	p.stream = func(r *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
		asked = append(asked, r.GetAfterSeq())
		if len(asked) == 3 {
			return out.Send(caughtUp(r.GetAfterSeq()))
		}
		for seq := r.GetAfterSeq() + 1; seq <= r.GetAfterSeq()+2; seq++ {
			if err := out.Send(note(seq)); err != nil {
				return err
			}
		}
		return errDraining
	}
	p.start()
	for _, err := range p.client().Stream(t.Context(), client.StreamOptions{Pod: "p", After: 3}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(asked, []int64{3, 5, 7}) {
		t.Errorf("asked after %v", asked)
	}
}

// A consumer that stops also ends the call at podd.
func TestStreamEndsWithItsConsumer(t *testing.T) {
	p := newPeer(t)
	ended := make(chan struct{})
	p.serveLog(3, func(ctx context.Context) error {
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	})
	p.start()
	for m := range p.client().Stream(t.Context(), client.StreamOptions{Pod: "p", Follow: true}) {
		if m.GetCaughtUp() != nil {
			break
		}
	}
	<-ended
}

func TestStreamEndsWithItsContext(t *testing.T) {
	p := newPeer(t)
	p.serveLog(1, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	p.start()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for m, err := range p.client().Stream(ctx, client.StreamOptions{Pod: "p", Follow: true}) {
		if m.GetCaughtUp() != nil {
			cancel()
		}
		last = err
	}
	if last == nil || ctx.Err() == nil {
		t.Errorf("the stream ended with %v", last)
	}
}

func TestStreamFindsGaps(t *testing.T) {
	tests := map[string]struct {
		after int64
		sent  []int64
		gap   bool
	}{
		"in the middle":                      {0, []int64{1, 2, 4}, true},
		"after the cursor":                   {3, []int64{5}, true},
		"before the first of a purged log":   {0, []int64{7, 8}, false},
		"none":                               {3, []int64{4, 5}, false},
		"none, though the server stammers":   {3, []int64{4, 4, 3, 5}, false},
		"after a server's stammer is a real": {3, []int64{4, 3, 6}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			p.stream = func(_ *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
				for _, seq := range tt.sent {
					if err := out.Send(note(seq)); err != nil {
						return err
					}
				}
				return out.Send(caughtUp(tt.sent[len(tt.sent)-1]))
			}
			p.start()
			var err error
			for _, e := range p.client().Stream(t.Context(), client.StreamOptions{Pod: "p", After: tt.after}) {
				err = e
			}
			if tt.gap {
				wantError(t, err, item.KindDataLoss, "STREAM_GAP")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// A client gives up on a podd that keeps coming and going without an answer, but not on
// one that answers.
func TestStreamGivesUp(t *testing.T) {
	p := newPeer(t)
	connections := 0
	p.stream = func(_ *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
		if connections++; connections <= 30 {
			if err := out.Send(note(int64(connections))); err != nil {
				return err
			}
		}
		return errDraining
	}
	p.start()
	c := p.client(func(cfg *client.Config) { cfg.RetryFor = 100 * time.Millisecond })
	var got int64
	var last error
	for m, err := range c.Stream(t.Context(), client.StreamOptions{Pod: "p", Follow: true}) {
		if err == nil {
			got = m.GetEntry().GetSeq()
		}
		last = err
	}
	wantError(t, last, item.KindUnavailable, errDraining.Reason)
	if got != 30 {
		t.Errorf("gave up after entry %d", got)
	}
}

func TestStreamCanBeReadAgain(t *testing.T) {
	p := newPeer(t)
	p.serveLog(2, nil)
	p.start()
	stream := p.client().Stream(t.Context(), client.StreamOptions{Pod: "p"})
	for range 2 {
		n := 0
		for range stream {
			n++
		}
		if n != 3 {
			t.Errorf("got %d elements, want 2 entries and caught_up", n)
		}
	}
}

func ExampleClient_Stream() {
	c, err := client.New(client.Config{Socket: "/run/user/1000/podd/podd.sock"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for m, err := range c.Stream(context.Background(), client.StreamOptions{Pod: "main", Follow: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e := m.GetEntry(); e != nil {
			fmt.Println(e.GetSeq())
		}
	}
}
