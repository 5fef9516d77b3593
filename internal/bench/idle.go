package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// measureStart starts daemons on directories of their own and stops them.
func measureStart(ctx context.Context, r *rig) error {
	rep := 0
	return r.each(r.compared(), func(s *subject) error {
		rep++
		fresh, err := r.start(ctx, s.kind, filepath.Join(r.dir, fmt.Sprintf("start-%d", rep)), nil)
		if err != nil {
			return err
		}
		defer fresh.stop()
		r.results.add(rowReady, s, milliseconds(fresh.ready))
		return nil
	})
}

// measureMemory starts one daemon of each kind, lets it lie idle, and gives it pods
// that have each had a turn.
func measureMemory(ctx context.Context, r *rig) error {
	const settle, watch, pods = 2 * time.Second, 5 * time.Second, 200
	for _, s := range r.compared() {
		fresh, err := r.start(ctx, s.kind, filepath.Join(r.dir, "memory", s.kind.name), nil)
		if err != nil {
			return err
		}
		defer fresh.stop()
		time.Sleep(settle)
		rss, anonymous, err := memory(fresh.pid)
		if err != nil {
			return err
		}
		before, err := cpu(fresh.pid)
		if err != nil {
			return err
		}
		time.Sleep(watch)
		after, err := cpu(fresh.pid)
		if err != nil {
			return err
		}
		r.results.add(rowIdleRSS, s, float64(rss)/mb)
		r.results.add(rowIdleAnon, s, float64(anonymous)/mb)
		r.results.add(rowIdleCPU, s, milliseconds(after-before)/watch.Seconds())
		// The first pods pay for what all share.
		if err := fresh.populate(ctx, pods); err != nil {
			return err
		}
		_, few, err := memory(fresh.pid)
		if err != nil {
			return err
		}
		if err := fresh.populate(ctx, 2*pods); err != nil {
			return err
		}
		_, many, err := memory(fresh.pid)
		if err != nil {
			return err
		}
		r.results.add(rowPodMemory, s, float64(many-few)/mb/(2*pods))
	}
	return nil
}

// populate makes pods that have each had one turn.
func (s *subject) populate(ctx context.Context, n int) error {
	for range n {
		if _, err := s.freshTurn(ctx, say); err != nil {
			return err
		}
	}
	return nil
}
