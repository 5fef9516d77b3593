package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// BenchmarkAppend measures one pod that appends alone: the cost of a durable entry.
func BenchmarkAppend(b *testing.B) { benchmarkPods(b, 1) }

// BenchmarkGroupCommit measures many pods that append at once and share the syncs. The
// goal is 20,000 entries/s with 64 pods.
func BenchmarkGroupCommit(b *testing.B) {
	for _, pods := range []int{1, 16, 64, 1000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) { benchmarkPods(b, pods) })
	}
}

// benchmarkPods appends b.N entries of 500 bytes. Each is durable before its pod appends
// the next.
func benchmarkPods(b *testing.B, pods int) {
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(b.TempDir(), "podd.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	var wg sync.WaitGroup
	writers := make([]store.Batch, pods)
	for i := range writers {
		wg.Go(func() { writers[i] = benchmarkPod(b, s, i) })
	}
	wg.Wait()
	b.ReportAllocs()
	b.ResetTimer()
	for i, batch := range writers {
		n := b.N / pods
		if i < b.N%pods {
			n++
		}
		wg.Go(func() {
			for range n {
				if _, err := s.Append(context.Background(), batch); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()

	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// benchmarkPod makes a pod and the batch to append.
func benchmarkPod(b *testing.B, s store.Store, i int) store.Batch {
	pod := item.Pod{ID: fmt.Sprintf("pod-%04d", i), Name: fmt.Sprintf("name-%04d", i)}
	if err := s.CreatePod(context.Background(), pod); err != nil {
		b.Error(err)
	}
	epoch, err := s.Claim(context.Background(), pod.ID)
	if err != nil {
		b.Error(err)
	}
	text := strings.Repeat("0123456789", 50)
	return store.Batch{
		Pod: pod.ID, Epoch: epoch,
		Entries: []item.Entry{{Time: time.Unix(1, 2), Turn: 1, Kind: item.ItemAdded{Item: item.AssistantMessage{Text: text}}}},
		Status:  &item.PodStatus{State: item.StateRunning, Turn: 1, LastActivity: time.Unix(1, 2)},
	}
}
