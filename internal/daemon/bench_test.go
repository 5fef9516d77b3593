package daemon_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/daemon"
	"podd/internal/testing/bench/model"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

// benchDaemon is podd in this process, without a sandbox or questions, with the model
// endpoint of the measurements. Its database has the given number of pods.
func benchDaemon(b *testing.B, pods int) *client.Client {
	b.Helper()
	var answers model.Server
	endpoint := httptest.NewUnstartedServer(nil)
	endpoint.Config = answers.New()
	endpoint.Start()
	b.Cleanup(endpoint.Close)
	c := newConfig(b)
	c.Settings.BaseURL, c.Settings.Pods.Model.Model, c.Settings.Ask, c.Settings.Sandbox.Mode = endpoint.URL+"/v1", "bench", "never", "off"
	c.Settings.Pods.Limits.MaxSteps, c.Settings.Pods.Limits.MaxToolCalls = 1_000_000, 1_000_000
	benchPods(b, c, pods)
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

// benchPods creates pods in the database of a podd that is not open yet.
func benchPods(b *testing.B, c daemon.Config, n int) {
	b.Helper()
	if err := os.Mkdir(c.StateDir, 0o700); err != nil {
		b.Fatal(err)
	}
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(c.StateDir, "podd.db")})
	if err != nil {
		b.Fatal(err)
	}
	dir, now := b.TempDir(), time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			id := strings.ToLower(rand.Text())
			p := item.Pod{ID: "pod_" + id, Name: id, Spec: item.PodSpec{Dir: dir}, CreatedAt: now, Status: item.PodStatus{State: item.StateIdle, LastActivity: now}}
			if err := s.CreatePod(b.Context(), p); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// benchPod creates a pod and follows it until the benchmark ends.
func benchPod(b *testing.B, c *client.Client, name, dir string) poddv1.PodService_StreamClient {
	b.Helper()
	if _, err := c.Pods().CreatePod(b.Context(), &poddv1.CreatePodRequest{Name: name, Spec: &poddv1.PodSpec{Dir: dir}}); err != nil {
		b.Fatal(err)
	}
	stream, err := c.Pods().Stream(b.Context(), &poddv1.StreamRequest{Pod: name, Follow: true, Deltas: true})
	if err != nil {
		b.Fatal(err)
	}
	return stream
}

// benchTurn runs a turn until its end has arrived.
func benchTurn(b *testing.B, c *client.Client, stream poddv1.PodService_StreamClient, pod, prompt string) {
	b.Helper()
	_, err := c.Submit(b.Context(), &poddv1.SubmitRequest{Pod: pod, Segments: []*poddv1.Segment{
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

// BenchmarkStep measures a whole step of a turn: a model request over HTTP, a call of the
// shell tool, its result, commits, a stream over the socket. The client and the model
// endpoint are in the same process, and their cost is included.
func BenchmarkStep(b *testing.B) {
	c := benchDaemon(b, 0)
	stream := benchPod(b, c, "bench", b.TempDir())
	benchTurn(b, c, stream, "bench", "bench:say-0")
	b.ReportAllocs()
	b.ResetTimer()
	const most = 100
	for left := b.N; left > 0; left -= most {
		benchTurn(b, c, stream, "bench", fmt.Sprintf("bench:loop-%d", min(left, most)))
	}
}

// BenchmarkTurn measures a turn of one answer without a call.
func BenchmarkTurn(b *testing.B) {
	c := benchDaemon(b, 0)
	stream := benchPod(b, c, "bench", b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		benchTurn(b, c, stream, "bench", "bench:say-0")
	}
}

// BenchmarkStreamedToken measures the way of a token from the endpoint to a client.
func BenchmarkStreamedToken(b *testing.B) {
	c := benchDaemon(b, 0)
	stream := benchPod(b, c, "bench", b.TempDir())
	benchTurn(b, c, stream, "bench", "bench:say-0")
	b.ReportAllocs()
	b.ResetTimer()
	benchTurn(b, c, stream, "bench", fmt.Sprintf("bench:stream-%d", b.N))
}

// BenchmarkList measures the list of 10,000 pods, at the client; the goal is 150 ms.
func BenchmarkList(b *testing.B) {
	const pods = 10_000
	c := benchDaemon(b, pods)
	b.ReportAllocs()
	for b.Loop() {
		list, err := c.Pods().ListPods(b.Context(), &poddv1.ListPodsRequest{})
		if err != nil || len(list.GetPods()) != pods {
			b.Fatalf("%d pods, %v", len(list.GetPods()), err)
		}
	}
}

// BenchmarkNewPod measures a pod from its creation to the end of its first turn. All of
// them stay loaded.
func BenchmarkNewPod(b *testing.B) {
	c := benchDaemon(b, 0)
	dir := b.TempDir()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		name := fmt.Sprintf("bench-%d", n)
		stream := benchPod(b, c, name, dir)
		benchTurn(b, c, stream, name, "bench:say-0")
	}
}
