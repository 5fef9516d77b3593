package main

import (
	"context"
	"path/filepath"
	"time"
)

// measureWork measures a podd that has worked: its memory, the cost of a step late in a long
// turn, and the bytes that a step writes to the disk.
func measureWork(ctx context.Context, r *rig) error {
	const (
		pods, turns = 200, 5
		rest        = 10 * time.Second
	)
	s, err := r.start(ctx, poddKind, filepath.Join(r.dir, "work"), nil)
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := s.freshTurn(ctx, loop(1)); err != nil {
		return err
	}
	_, before, err := memory(s.pid)
	if err != nil {
		return err
	}
	for range pods {
		if err := s.severalTurns(ctx, turns, loop(1)); err != nil {
			return err
		}
	}
	time.Sleep(rest)
	rss, anonymous, err := memory(s.pid)
	if err != nil {
		return err
	}
	r.results.add(rowWorkRSS, r.podd, float64(rss)/mb)
	r.results.add(rowWorkPod, r.podd, float64(anonymous-before)/mb/pods)
	for range r.reps {
		if err := r.longTurn(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// longTurn runs a long turn of a new pod. It compares the processor time of steps at its
// end with that of as many at its start, after warm ones.
func (r *rig) longTurn(ctx context.Context, s *subject) error {
	const many, warm, part = 2000, 100, 200
	session, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	used := map[int]time.Duration{warm: 0, warm + part: 0, many - part: 0, many: 0}
	session.step = func(n int) error {
		if _, ok := used[n]; !ok {
			return nil
		}
		used[n], err = cpu(s.pid)
		return err
	}
	written, err := writtenBy(s.pid)
	if err != nil {
		return err
	}
	if _, err := session.turn(ctx, loop(many)); err != nil {
		return err
	}
	after, err := writtenBy(s.pid)
	if err != nil {
		return err
	}
	r.results.add(rowWorkGrowth, r.podd, float64(used[many]-used[many-part])/float64(used[warm+part]-used[warm]))
	r.results.add(rowWorkWritten, r.podd, float64(after-written)/1024/many)
	return nil
}

// severalTurns runs turns of one new pod.
func (s *subject) severalTurns(ctx context.Context, n int, prompt string) error {
	session, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	for range n {
		if _, err := session.turn(ctx, prompt); err != nil {
			return err
		}
	}
	return nil
}
