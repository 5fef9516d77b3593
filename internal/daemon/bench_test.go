package daemon_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"podd/internal/bench/model"
	"podd/internal/daemon"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// benchDaemon is a podd in this process, without a sandbox and unasked, beside the
// model endpoint of the measurements.
func benchDaemon(b *testing.B) *client.Client {
	b.Helper()
	var answers model.Server
	endpoint := httptest.NewUnstartedServer(nil)
	endpoint.Config = answers.New()
	endpoint.Start()
	b.Cleanup(endpoint.Close)
	c := newConfig(b)
	c.Settings.BaseURL, c.Settings.Model, c.Settings.Ask, c.Settings.Sandbox.Mode = endpoint.URL+"/v1", "bench", "never", "off"
	c.Settings.Limits.MaxSteps, c.Settings.Limits.MaxToolCalls = 1_000_000, 1_000_000
	d, err := daemon.Open(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, nil) }()
	cl, err := client.New(client.Config{Socket: c.Socket, StateDir: c.StateDir})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := cl.Close(); err != nil {
			b.Error(err)
		}
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	return cl
}

// benchPod follows a new pod.
func benchPod(b *testing.B, c *client.Client) poddv1.PodService_StreamClient {
	b.Helper()
	if _, err := c.Pods().CreatePod(b.Context(), &poddv1.CreatePodRequest{Name: "bench", Spec: &poddv1.PodSpec{Dir: b.TempDir()}}); err != nil {
		b.Fatal(err)
	}
	stream, err := c.Pods().Stream(b.Context(), &poddv1.StreamRequest{Pod: "bench", Follow: true, Deltas: true})
	if err != nil {
		b.Fatal(err)
	}
	return stream
}

// benchTurn runs a turn and sees its end.
func benchTurn(b *testing.B, c *client.Client, stream poddv1.PodService_StreamClient, prompt string) {
	b.Helper()
	_, err := c.Submit(b.Context(), &poddv1.SubmitRequest{Pod: "bench", Segments: []*poddv1.Segment{
		{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: prompt}}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			b.Fatal(err)
		}
		if end := m.GetEntry().GetTurnEnded(); end != nil {
			if end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
				b.Fatalf("the turn ended as %s: %s", end.GetOutcome(), end.GetCause())
			}
			return
		}
	}
}

// BenchmarkStep is a step of a turn through everything: a model request over HTTP, a
// call of the shell tool, its result, commits, a stream over the socket. The client and
// the model endpoint are in the same process, and count.
func BenchmarkStep(b *testing.B) {
	c := benchDaemon(b)
	stream := benchPod(b, c)
	benchTurn(b, c, stream, "bench:say-0")
	b.ReportAllocs()
	b.ResetTimer()
	const most = 100
	for left := b.N; left > 0; left -= most {
		benchTurn(b, c, stream, fmt.Sprintf("bench:loop-%d", min(left, most)))
	}
}

// BenchmarkTurn is a turn of one answer without a call.
func BenchmarkTurn(b *testing.B) {
	c := benchDaemon(b)
	stream := benchPod(b, c)
	b.ReportAllocs()
	for b.Loop() {
		benchTurn(b, c, stream, "bench:say-0")
	}
}

// BenchmarkStreamedToken is a token on its way from the endpoint to a client.
func BenchmarkStreamedToken(b *testing.B) {
	c := benchDaemon(b)
	stream := benchPod(b, c)
	benchTurn(b, c, stream, "bench:say-0")
	b.ReportAllocs()
	b.ResetTimer()
	benchTurn(b, c, stream, fmt.Sprintf("bench:stream-%d", b.N))
}
