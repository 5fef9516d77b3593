package daemon

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"podd/internal/ops/keeper"
)

const (
	// restEvery is how often podd looks whether it has worked, and rests.
	restEvery = 2 * time.Second
	// workBytes is how much is allocated before memory is worth returning.
	workBytes = 8 << 20
	// spareBytes is how much garbage podd makes, besides as much as it uses, before Go collects
	// it. podd uses little: Go would look through that many times a second while pods work.
	spareBytes = 16 << 20
)

// spareGarbage lets podd make spareBytes more garbage until release is called. It allocates that
// much and never touches it: Go counts it as used, and the system gives no memory for it.
func spareGarbage() (release func()) {
	ballast := make([]byte, spareBytes)
	return func() { runtime.KeepAlive(ballast) }
}

// atRest calls rested each time that podd rests after work, until ctx ends.
func atRest(ctx context.Context, running func() bool, rested func()) {
	ticker := time.NewTicker(restEvery)
	defer ticker.Stop()
	var w work
	for {
		select {
		case <-ticker.C:
			if w.rests(running(), allocated()) {
				rested()
			}
		case <-ctx.Done():
			return
		}
	}
}

// giveBack returns what work needed and a resting podd does not to the system: the space of
// deleted pods, garbage, of which Go itself keeps as much as there is memory in use, and the
// pages of the program.
func giveBack(ctx context.Context, k storeKeeper) {
	if file, ok := k.(*keeper.Keeper); ok {
		file.Shrink(ctx, keeper.MostAtRest)
	}
	debug.FreeOSMemory()
	unmapProgram()
}

// work says when podd rests after work.
type work struct {
	// last and returned are what was allocated at the last look, and when memory was
	// returned.
	last, returned uint64
	// quiet counts the last looks that found rest.
	quiet int
}

// quietLooks is how many looks have to find rest: pods need a few seconds to drop what they can
// make again.
const quietLooks = 3

// rests looks once. It is true once after work, when some looks found no turn and little that
// was allocated since the one before.
func (w *work) rests(running bool, allocated uint64) bool {
	if w.quiet++; running || allocated-w.last >= workBytes/8 {
		w.quiet = 0
	}
	w.last = allocated
	if w.quiet < quietLooks || allocated-w.returned < workBytes {
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
