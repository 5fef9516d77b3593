package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"podd/internal/ops/keeper"
	"podd/pkg/item"
	"podd/pkg/store"
)

// A podd that rests after work gives back what it does not need.
func TestAtRest(t *testing.T) {
	work := strings.Repeat("x", workBytes)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		rested := make(chan bool)
		go atRest(ctx, func() bool { return false }, func() { rested <- true })
		<-rested
		stop()
	})
	runtime.KeepAlive(work)
}

// What it gives back has the space of deleted pods.
func TestGiveBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k, err := keeper.Open(t.Context(), keeper.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, id := range []string{"first", "second"} {
		err := k.Store().CreatePod(t.Context(), item.Pod{ID: id, Name: id})
		if err != nil {
			t.Fatal(err)
		}
		epoch, err := k.Store().Claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		note := item.Entry{Kind: item.Note{Text: strings.Repeat("x", 10<<20)}}
		if _, err := k.Store().Append(t.Context(), store.Batch{Pod: id, Epoch: epoch, Entries: []item.Entry{note}}); err != nil {
			t.Fatal(err)
		}
		if err := k.Store().DeletePod(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	giveBack(t.Context(), k)
	info, err := os.Stat(filepath.Join(dir, "podd.db"))
	if err != nil || info.Size() > 1<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

// Memory is returned once after work, when no turn runs, and not for the little that a
// resting podd allocates.
func TestRestsOnceAfterWork(t *testing.T) {
	var w work
	const mb = 1 << 20
	for i, look := range []struct {
		running   bool
		allocated uint64
		want      bool
	}{
		{false, 1 * mb, false},
		{true, 5 * mb, false},
		{true, 30 * mb, false},
		{false, 40 * mb, false},
		{false, 40*mb + 1000, false},
		{true, 40*mb + 1000, false},
		{false, 40*mb + 1000, false},
		{false, 40*mb + 1000, false},
		{false, 40*mb + 1000, true},
		{false, 40*mb + 2000, false},
		{false, 41 * mb, false},
		{true, 47 * mb, false},
		{false, 47 * mb, false},
		{false, 47 * mb, false},
		{false, 47 * mb, false},
		{false, 49 * mb, false},
		{false, 49 * mb, false},
		{false, 49 * mb, false},
		{false, 49 * mb, true},
	} {
		if got := w.rests(look.running, look.allocated); got != look.want {
			t.Errorf("look %d: %v", i, got)
		}
	}
}

// Little garbage does not make Go look through the memory.
func TestSpareGarbage(t *testing.T) {
	defer spareGarbage()()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range spareBytes * 3 / 4 >> 10 {
		garbage = make([]byte, 1<<10)
	}
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 0 {
		t.Errorf("%d MiB of garbage were collected %d times", spareBytes*3/4>>20, n)
	}
}

// garbage keeps what is allocated on the heap.
var garbage []byte
