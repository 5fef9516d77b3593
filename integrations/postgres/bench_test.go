//go:build integrations

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/internal/testing/pgtest"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// needServer skips a benchmark without PostgreSQL: `make bench` runs it.
func needServer(b *testing.B) {
	b.Helper()
	if _, err := pgtest.Binaries(); errors.Is(err, pgtest.ErrMissing) {
		b.Skip(err)
	}
}

func connect(b *testing.B, w *rig.World) *client.Client {
	b.Helper()
	conn, err := client.New(client.Config{Socket: w.Socket(), StateDir: w.StateDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// inTime says how long the values took, in milliseconds.
func inTime(b *testing.B, took []time.Duration, what string) {
	b.Helper()
	if len(took) == 0 {
		b.Fatal("nothing was measured")
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2])/float64(time.Millisecond), what+"-p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/float64(time.Millisecond), what+"-p99-ms")
}

// arrival is when an entry came to a follower.
type arrival struct {
	at  time.Time
	end bool
}

// arrivals follows a pod at a node, and says when each entry comes, from the first one on.
func arrivals(b *testing.B, w *rig.World, pod string) <-chan arrival {
	b.Helper()
	in, err := connect(b, w).Pods().Stream(b.Context(), &poddv1.StreamRequest{Pod: pod, Follow: true})
	if err != nil {
		b.Fatal(err)
	}
	out := make(chan arrival, 100)
	go func() {
		defer close(out)
		for {
			m, err := in.Recv()
			if err != nil {
				return
			}
			if e := m.GetEntry(); e != nil {
				out <- arrival{at: time.Now(), end: e.GetTurnEnded() != nil}
			}
		}
	}()
	return out
}

// BenchmarkNodesFollow measures how much later an entry comes to a follower at another node than to
// one at the pod's node: through a connection between the nodes, and where the other node can't
// reach that one. A turn runs one command.
func BenchmarkNodesFollow(b *testing.B) {
	needServer(b)
	for _, way := range []string{"relayed", "unreachable"} {
		b.Run(way, func(b *testing.B) {
			c := newCluster(b)
			works := func(_ context.Context, r scripted.Request) scripted.Reply {
				if r.Steps() == 0 {
					return scripted.Say(scripted.Call{ID: "c", Name: "shell", Arguments: `{"command":"true"}`})
				}
				return scripted.Say(scripted.Text("done"))
			}
			n1, n2 := c.node("n1", works), c.node("n2", works)
			n1.Start()
			n2.Start()
			n1.Podctl("create", "one", "--dir", n1.Workspace)
			if way == "unreachable" {
				c.psql("UPDATE nodes SET address = '127.0.0.2:1' WHERE name = 'n1'")
			}
			near, far := arrivals(b, n1, "one"), arrivals(b, n2, "one")
			conn := connect(b, n1)
			var added []time.Duration
			for b.Loop() {
				_, err := conn.Submit(b.Context(), &poddv1.SubmitRequest{Pod: "one", Segments: []*poddv1.Segment{
					{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "go"}}},
				}})
				if err != nil {
					b.Fatal(err)
				}
				for ended := false; !ended; {
					first, open := <-near
					second, alsoOpen := <-far
					if !open || !alsoOpen {
						b.Fatal("a stream ended")
					}
					added = append(added, second.at.Sub(first.at))
					ended = first.end
				}
			}
			inTime(b, added, "added")
		})
	}
}

// BenchmarkNodesList measures a list of 10,000 pods at another node than theirs.
func BenchmarkNodesList(b *testing.B) {
	needServer(b)
	for _, movable := range []bool{false, true} {
		b.Run(fmt.Sprintf("movable=%v", movable), func(b *testing.B) {
			tm := newTeam(b, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) })
			dir := tm.nodes["n1"].Workspace
			if movable {
				dir = tm.dir
			}
			const pods = 10_000
			conn := connect(b, tm.nodes["n1"])
			for i := range pods {
				_, err := conn.Pods().CreatePod(b.Context(), &poddv1.CreatePodRequest{Name: fmt.Sprintf("pod-%05d", i), Spec: &poddv1.PodSpec{Dir: dir}})
				if err != nil {
					b.Fatal(err)
				}
			}
			other := connect(b, tm.nodes["n3"])
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				listed, err := other.Pods().ListPods(b.Context(), &poddv1.ListPodsRequest{})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				if n := len(listed.GetPods()); n != pods || listed.GetPods()[0].GetMovable() != movable {
					b.Fatalf("%d pods are listed: %v", n, listed.GetPods()[0])
				}
			}
			inTime(b, took, "list")
		})
	}
}
