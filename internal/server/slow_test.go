package server_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// refuser refuses every submit, so that none reaches a model.
type refuser struct{ interceptor.Base }

// Name is the interceptor's.
func (refuser) Name() string { return "refuser" }

// PromptSubmit refuses.
func (refuser) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	return s.Cancel("not now")
}

// busy is a pod that stores every submit and asks no model.
type busy struct {
	tb   testing.TB
	conn *grpc.ClientConn
	pods poddv1.PodServiceClient
}

func newBusy(tb testing.TB) *busy {
	conn := serveWith(tb, &poddv1.PodSpec{}, func(context.Context, scripted.Request) scripted.Reply {
		tb.Error("the model was asked")
		return scripted.Say(scripted.Text("no"))
	}, func(c *pod.Config) {
		c.Interceptors, c.MaxInbox, c.MaxSubmitBytes = []interceptor.Interceptor{refuser{}}, 1_000_000, 2<<20
	})
	return &busy{tb: tb, conn: conn, pods: poddv1.NewPodServiceClient(conn)}
}

// submit stores n submits, two clients at once.
func (b *busy) submit(n int, segments ...*poddv1.Segment) {
	b.tb.Helper()
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for range (n + worker) / 2 {
				_, err := b.pods.Submit(b.tb.Context(), &poddv1.SubmitRequest{Pod: "p", Segments: segments})
				for item.ReasonOf(wire.FromStatus(err)) == "WORKSPACE_SILENT" { // The machine stood still.
					_, err = b.pods.Submit(b.tb.Context(), &poddv1.SubmitRequest{Pod: "p", Segments: segments})
				}
				if err != nil {
					b.tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if b.tb.Failed() {
		b.tb.FailNow()
	}
}

// missing are as many references to missing files as one submit may have. Each makes an
// alert and an entry; together they are 1 MiB.
func missing() (segments []*poddv1.Segment) {
	for i := range 256 {
		path := fmt.Sprintf("%d/%s", i, strings.Repeat(strings.Repeat("l", 249)+"/", 16))
		segments = append(segments, &poddv1.Segment{Kind: &poddv1.Segment_FileRef{FileRef: &poddv1.FileRefSegment{Path: path}}})
	}
	return segments
}

func prompt() *poddv1.Segment {
	return &poddv1.Segment{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: "hello"}}}
}

// stalled opens a stream that follows the log and is not read.
func (b *busy) stalled(ctx context.Context) poddv1.PodService_StreamClient {
	b.tb.Helper()
	s, err := b.pods.Stream(ctx, &poddv1.StreamRequest{Pod: "p", Follow: true, Deltas: true})
	if err != nil {
		b.tb.Fatal(err)
	}
	return s
}

// settled waits until the log has the given number of entries and returns its last
// sequence.
func (b *busy) settled(entries int64) int64 {
	b.tb.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for ; ; <-poll.C {
		got, err := b.pods.GetPod(b.tb.Context(), &poddv1.GetPodRequest{Pod: "p"})
		if err != nil {
			b.tb.Fatal(err)
		}
		if last := got.GetPod().GetLastSeq(); last >= entries && got.GetPod().GetQueued() == 0 && got.GetPod().GetState() == poddv1.PodState_POD_STATE_IDLE {
			return last
		}
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // The second collection frees the memory of pools.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Readers that stop cost podd no memory, however long they stop. Meanwhile the pod writes
// 10,000 entries, many times what may be in memory. Then the readers get all of them.
func TestStoppedReaders(t *testing.T) {
	const most = 16 << 20
	submits := 40
	if testing.Short() {
		submits = 24
	}
	b := newBusy(t)
	var streams []poddv1.PodService_StreamClient
	for range 2 {
		streams = append(streams, b.stalled(t.Context()))
	}
	before := heap()
	b.submit(submits, missing()...)
	last := b.settled(250 * int64(submits))
	if grown := heap() - before; grown > most {
		t.Errorf("%d entries, with %d MiB of text and more, cost %d MiB of memory", last, submits, grown>>20)
	} else {
		t.Logf("%d entries, with %d MiB of text and more, cost %.1f MiB of memory", last, submits, float64(grown)/(1<<20))
	}
	for _, s := range streams {
		for want := int64(1); want <= last; {
			m, err := s.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if e := m.GetEntry(); e != nil {
				if e.GetSeq() != want {
					t.Fatalf("entry %d, want %d", e.GetSeq(), want)
				}
				want++
			}
		}
	}
}

// BenchmarkStoppedReaders measures what four stopped readers cost the pod that they
// follow. It does the same work without and with them, alternately; "ratio" is the time
// with them divided by the time without.
func BenchmarkStoppedReaders(b *testing.B) {
	p := newBusy(b)
	p.submit(200, prompt())
	var without, with time.Duration
	for b.Loop() {
		start := time.Now()
		p.submit(400, prompt())
		p.settled(1)
		without += time.Since(start)

		ctx, cancel := context.WithCancel(b.Context())
		var streams []poddv1.PodService_StreamClient
		for range 4 {
			streams = append(streams, p.stalled(ctx))
		}
		start = time.Now()
		p.submit(400, prompt())
		p.settled(1)
		with += time.Since(start)
		cancel()
		for _, s := range streams {
			for err := error(nil); err == nil; _, err = s.Recv() {
			}
		}
	}
	b.ReportMetric(float64(with)/float64(without), "ratio")
}
