package store_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

// createPods makes n pods at once.
func createPods(tb testing.TB, s store.Store, n int) {
	tb.Helper()
	var wg sync.WaitGroup
	work := make(chan int)
	for range 256 {
		wg.Go(func() {
			for i := range work {
				pod := item.Pod{ID: fmt.Sprintf("id-%05d", i), Name: fmt.Sprintf("name-%05d", n-i), Spec: item.PodSpec{Dir: "/home/someone/project"}}
				if err := s.CreatePod(tb.Context(), pod); err != nil {
					tb.Errorf("create pod %d: %v", i, err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
}

// More pods than fit one read transaction are listed once each, by name.
func TestManyPodsAreListed(t *testing.T) {
	const n = 2300
	s := open(t, filepath.Join(t.TempDir(), "podd.db"))
	createPods(t, s, n)
	pods, err := s.Pods(t.Context())
	if err != nil || len(pods) != n {
		t.Fatalf("%d pods are listed, error %v", len(pods), err)
	}
	if !slices.IsSortedFunc(pods, func(a, b item.Pod) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("the pods are not in the order of their names")
	}
	if ids := slices.CompactFunc(pods, func(a, b item.Pod) bool { return a.ID == b.ID }); len(ids) != n {
		t.Errorf("%d pods are listed twice", n-len(ids))
	}
}

// BenchmarkPods lists 10,000 pods; the goal for the whole way to a client is 50 ms.
func BenchmarkPods(b *testing.B) {
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(b.TempDir(), "podd.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	createPods(b, s, 10_000)
	for b.Loop() {
		if pods, err := s.Pods(b.Context()); err != nil || len(pods) != 10_000 {
			b.Fatalf("%d pods, error %v", len(pods), err)
		}
	}
}
