package daemon

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// restEvery is how often podd looks whether it has worked, and rests.
	restEvery = 2 * time.Second
	// workBytes is how much is allocated before memory is worth returning.
	workBytes = 8 << 20
)

// returnMemory gives what work needed and a resting podd does not back to the system, until
// ctx ends. Go itself keeps as much garbage as there is memory in use.
func returnMemory(ctx context.Context, running func() bool) {
	ticker := time.NewTicker(restEvery)
	defer ticker.Stop()
	var w work
	for {
		select {
		case <-ticker.C:
			if w.rests(running(), allocated()) {
				debug.FreeOSMemory()
			}
		case <-ctx.Done():
			return
		}
	}
}

// work says when podd rests after work.
type work struct {
	// last and returned are what was allocated at the last look, and when memory was
	// returned.
	last, returned uint64
}

// rests looks once. It is true once after work, when a look finds no turn and little that was
// allocated since the one before.
func (w *work) rests(running bool, allocated uint64) bool {
	quiet := !running && allocated-w.last < workBytes/8
	w.last = allocated
	if !quiet || allocated-w.returned < workBytes {
		return false
	}
	w.returned = allocated
	return true
}

// allocated is how many bytes this process has allocated since its start.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
