package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"podd/internal/testing/bench/model"
)

// measureMany runs turns of several pods at once.
func measureMany(ctx context.Context, r *rig) error {
	const manyPods, manySteps, slowPods, slowSteps = 10, 20, 20, 10
	return r.each(r.compared(), func(s *subject) error {
		wall, err := s.together(ctx, manyPods, loop(manySteps))
		if err != nil {
			return err
		}
		r.results.add(rowMany, s, manyPods*manySteps/wall.Seconds())
		wall, err = s.together(ctx, slowPods, slow(slowSteps))
		if err != nil {
			return err
		}
		r.results.add(rowSlow, s, float64(wall)/float64((slowSteps+1)*model.Delay))
		return nil
	})
}

// together runs one turn of each of n new pods at the same time.
func (s *subject) together(ctx context.Context, n int, prompt string) (time.Duration, error) {
	sessions := make([]*session, n)
	for i := range sessions {
		session, err := s.open(ctx)
		if err != nil {
			return 0, err
		}
		defer session.close()
		if _, err := session.turn(ctx, say); err != nil {
			return 0, err
		}
		sessions[i] = session
	}
	errs := make([]error, n)
	var running sync.WaitGroup
	begun := time.Now()
	for i, session := range sessions {
		running.Go(func() { _, errs[i] = session.turn(ctx, prompt) })
	}
	running.Wait()
	return time.Since(begun), errors.Join(errs...)
}
