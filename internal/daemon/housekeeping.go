package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"podd/internal/ops/retention"
	"podd/pkg/pod"
)

// sweepEvery is how often retention visits all logs.
const sweepEvery = time.Hour

// housekeeping starts podd's background work for the store. It returns a function that
// ends it and waits.
func (d *Daemon) housekeeping(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	sweeper := retention.Sweeper{
		Store:  d.store,
		Alerts: d.host.Alerts,
		Node:   d.link.nodeName(),
		Policy: d.Settings.Retention,
		Logger: d.Logger,
		Now:    time.Now,
	}
	wg.Go(func() { sweeper.Run(ctx, sweepEvery) })
	wg.Go(func() { d.sweepTrash(ctx) })
	wg.Go(func() { collectFiles(ctx, d.host, d.Logger) })
	wg.Go(func() { d.keeper.Run(ctx) })
	wg.Go(func() { d.reloads(ctx) })
	wg.Go(func() { d.watchSocket(ctx) })
	if d.link != nil {
		wg.Go(func() { d.link.tell(ctx) })
	}
	wg.Go(func() {
		atRest(ctx, func() bool { return d.host.Counts().Running > 0 }, func() { giveBack(ctx, d.keeper) })
	})
	release := spareGarbage()
	return func() {
		cancel()
		wg.Wait()
		release()
	}
}

// collectEvery is how often the space of old checkpoints is freed.
const collectEvery = 24 * time.Hour

// collectFiles frees the space of checkpoints that are not kept any more, until ctx ends.
func collectFiles(ctx context.Context, host *pod.Host, log *slog.Logger) {
	timer := time.NewTimer(sweepEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if err := host.Rollback.Collect(ctx); err != nil && ctx.Err() == nil {
			log.Warn("cannot free the space of old checkpoints", "error", err)
		}
		timer.Reset(collectEvery)
	}
}

// sweepTrash removes deleted pods for good when their time is over, until ctx ends.
func (d *Daemon) sweepTrash(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := d.host.Trash.Sweep(ctx); err != nil && ctx.Err() == nil {
			d.Logger.Warn("cannot remove deleted pods for good", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
