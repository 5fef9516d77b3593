package main

import (
	"context"
	"time"
)

// measureTurn runs turns of one answer: of a pod that has had some, and of new pods,
// including their creation and first stream.
func measureTurn(ctx context.Context, r *rig) error {
	const again = 10
	warm := map[*subject]*session{}
	for _, s := range r.compared() {
		session, err := s.open(ctx)
		if err != nil {
			return err
		}
		defer session.close()
		if _, err := session.turn(ctx, say); err != nil {
			return err
		}
		warm[s] = session
	}
	return r.each(r.compared(), func(s *subject) error {
		for range again {
			wall, err := warm[s].turn(ctx, say)
			if err != nil {
				return err
			}
			r.results.add(rowTurn, s, milliseconds(wall))
		}
		for range again {
			begun := time.Now()
			if _, err := s.freshTurn(ctx, say); err != nil {
				return err
			}
			r.results.add(rowNewPod, s, milliseconds(time.Since(begun)))
		}
		return nil
	})
}
