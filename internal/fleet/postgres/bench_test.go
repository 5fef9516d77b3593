package postgres_test

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5/pgxpool"
)

// BenchmarkAppend compares appends of entries of 1 KiB, one a batch, with bare INSERTs of the same
// rows by as many writers on as many connections. Rounds of both alternate. Another node listens to
// what changes.
func BenchmarkAppend(b *testing.B) {
	needServer(b)
	for _, pods := range []int{1, 32} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) { benchmarkAppend(b, pods) })
	}
}

func benchmarkAppend(b *testing.B, pods int) {
	url := inSchema(b, crand.Text())
	s := member(b, url, "a")
	member(b, url, "b")
	bare, err := pgxpool.New(b.Context(), url+"&pool_max_conns=8")
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	if _, err := bare.Exec(b.Context(), "CREATE TABLE bare (LIKE entries INCLUDING ALL)"); err != nil {
		b.Fatal(err)
	}
	batches := make([]store.Batch, pods)
	for i := range batches {
		batches[i] = appender(b, s, fmt.Sprint("pod-", i))
	}
	first, err := s.Append(b.Context(), batches[0])
	if err != nil {
		b.Fatal(err)
	}
	record := first.Records[0].Entry
	ours := &measured{pods: pods, write: func(ctx context.Context, pod, _ int) error {
		_, err := s.Append(ctx, batches[pod])
		return err
	}}
	theirs := &measured{pods: pods, write: func(ctx context.Context, pod, n int) error {
		_, err := bare.Exec(ctx, "INSERT INTO bare VALUES ($1, $2, $3)", batches[pod].Pod, n, record)
		return err
	}}
	ours.round(b)
	theirs.round(b)
	ours.took, ours.wall, theirs.took, theirs.wall = nil, 0, nil, 0
	for b.Loop() {
		ours.round(b)
		theirs.round(b)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours.rate(), "appends/s")
	b.ReportMetric(theirs.rate(), "inserts/s")
	b.ReportMetric(ours.rate()/theirs.rate(), "rate-ratio")
	b.ReportMetric(ours.p50(), "append-p50-ms")
	b.ReportMetric(theirs.p50(), "insert-p50-ms")
	b.ReportMetric(ours.p50()/theirs.p50(), "p50-ratio")
}

// member is a node that listens to the others.
func member(b *testing.B, url, name string) *postgres.Store {
	s, err := postgres.Open(b.Context(), postgres.Config{URL: url, Node: name})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	c := node(name, nil)
	c.Noticed = func(item.Seq) {}
	if err := s.Membership.Join(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	return s
}

// appender is a pod and the batch that it appends.
func appender(b *testing.B, s store.Store, pod string) store.Batch {
	if err := s.CreatePod(b.Context(), item.Pod{ID: pod, Name: pod}); err != nil {
		b.Fatal(err)
	}
	epoch, err := s.Claim(b.Context(), pod)
	if err != nil {
		b.Fatal(err)
	}
	return store.Batch{
		Pod: pod, Epoch: epoch,
		Entries: []item.Entry{{Time: time.Unix(1, 2), Turn: 1, Kind: item.ItemAdded{Item: item.AssistantMessage{Text: strings.Repeat("01234567", 128)}}}},
		Status:  &item.PodStatus{State: item.StateRunning, Turn: 1, LastActivity: time.Unix(1, 2)},
	}
}

// measured is one way to write, and how long it took.
type measured struct {
	pods  int
	write func(ctx context.Context, pod, n int) error
	// n counts the writes of each pod.
	n    int
	took []time.Duration
	wall time.Duration
}

// round makes each pod write 50 times, all pods at once.
func (m *measured) round(b *testing.B) {
	const each = 50
	took := make([]time.Duration, m.pods*each)
	var wg sync.WaitGroup
	began := time.Now()
	for pod := range m.pods {
		wg.Go(func() {
			for i := range each {
				began := time.Now()
				if err := m.write(b.Context(), pod, m.n+i); err != nil {
					b.Error(err)
					return
				}
				took[pod*each+i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	m.wall += time.Since(began)
	m.took = append(m.took, took...)
	m.n += each
}

func (m *measured) rate() float64 { return float64(len(m.took)) / m.wall.Seconds() }

// p50 is in milliseconds.
func (m *measured) p50() float64 {
	slices.Sort(m.took)
	return float64(m.took[len(m.took)/2]) / float64(time.Millisecond)
}
