package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// measureStart starts daemons, each in its own directory, and stops them.
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

// measureMemory starts one daemon of each kind, lets it idle, and adds pods that each
// have had a turn.
func measureMemory(ctx context.Context, r *rig) error {
	for _, s := range r.compared() {
		fresh, err := r.start(ctx, s.kind, filepath.Join(r.dir, "memory", s.kind.name), nil)
		if err != nil {
			return err
		}
		defer fresh.stop()
		if err := r.lieIdle(fresh); err != nil {
			return err
		}
		// The first pods pay for shared memory.
		const first, further = 200, 400
		few, err := fresh.populate(ctx, first)
		if err != nil {
			return err
		}
		many, err := fresh.populate(ctx, further)
		if err != nil {
			return err
		}
		r.results.add(rowPodMemory, s, float64(many-few)/mb/further)
	}
	return nil
}

// lieIdle watches a daemon that has been idle for long enough to give back what its start needed.
func (r *rig) lieIdle(s *subject) error {
	used, err := s.idleCPU(5 * time.Second)
	if err != nil {
		return err
	}
	rss, anonymous, err := memory(s.pid)
	r.results.add(rowIdleRSS, s, float64(rss)/mb)
	r.results.add(rowIdleAnon, s, float64(anonymous)/mb)
	r.results.add(rowIdleCPU, s, used)
	return err
}

// idleCPU is the processor time that a daemon uses for so long, in milliseconds a second, once it has been idle for a while.
func (s *subject) idleCPU(watch time.Duration) (float64, error) {
	const settle = 10 * time.Second
	time.Sleep(settle)
	before, err := cpu(s.pid)
	if err != nil {
		return 0, err
	}
	time.Sleep(watch)
	after, err := cpu(s.pid)
	return milliseconds(after-before) / watch.Seconds(), err
}

// populate creates pods that each have had one turn, and returns the anonymous memory
// afterwards.
func (s *subject) populate(ctx context.Context, n int) (anonymous int64, err error) {
	for range n {
		if _, err := s.freshTurn(ctx, say); err != nil {
			return 0, err
		}
	}
	_, anonymous, err = memory(s.pid)
	return anonymous, err
}
