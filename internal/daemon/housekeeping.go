package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"podd/internal/ops/retention"
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
		Node:   d.fleet.NodeName(),
		Policy: d.Settings.Retention,
		Logger: d.Logger,
		Now:    time.Now,
	}
	wg.Go(func() { sweeper.Run(ctx, sweepEvery) })
	wg.Go(func() { d.sweepTrash(ctx) })
	wg.Go(func() { d.collectFiles(ctx) })
	wg.Go(func() { d.keeper.Run(ctx) })
	wg.Go(func() { d.reloads(ctx) })
	wg.Go(func() { d.watchSocket(ctx) })
	wg.Go(func() { d.fleet.Run(ctx) })
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

// collectEvery is how often the space of old files is freed.
const collectEvery = 24 * time.Hour

// collectFiles frees the space of checkpoints, temporary files and caches that are not kept any more, until
// ctx ends.
func (d *Daemon) collectFiles(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	var last time.Time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		// By the clock: a ticker stands still while the machine sleeps.
		now := time.Now().Round(0)
		if passed := now.Sub(last); passed >= 0 && passed < collectEvery {
			continue
		}
		last = now
		if err := d.workspaces.CleanTemps(ctx); err != nil && ctx.Err() == nil {
			d.Logger.Warn("cannot clean the caches of commands", "error", err)
		}
		if err := d.files.Collect(ctx); err != nil && ctx.Err() == nil {
			d.Logger.Warn("cannot free the space of old checkpoints", "error", err)
		}
	}
}

// sweepTrash removes deleted pods for good when their time is over, until ctx ends.
func (d *Daemon) sweepTrash(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := errors.Join(d.trash.Sweep(ctx), d.checkouts.Sweep(ctx)); err != nil && ctx.Err() == nil {
			d.Logger.Warn("cannot remove deleted pods for good", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
