package crash

import (
	"context"
	"fmt"
	"time"
)

// Kills at random times: how many pods work at once, how many submits of one may wait.
const (
	randomPods  = 3
	mostWaiting = 2
)

// randomRound ends podd so many times at random times while pods work, and then lets
// them finish.
func randomRound(r *round, kills int) error {
	for i := range randomPods {
		if _, err := r.addPod(fmt.Sprintf("p%d", i)); err != nil {
			return err
		}
	}
	if err := r.up(); err != nil {
		return err
	}
	if err := r.createAll(); err != nil {
		return err
	}
	r.follow()
	r.serveApprovals()
	close(r.model.gate) // Nothing stalls.
	working, enough := context.WithCancel(r.ctx)
	defer enough()
	for i, p := range r.pods {
		seed := r.random.Uint64() + uint64(i)
		r.tasks.Go(func() { r.work(working, p, seed) })
	}
	for range kills {
		if err := r.randomEnd(); err != nil {
			return err
		}
	}
	enough()
	if r.random.IntN(2) == 0 {
		r.leave()
	}
	return r.finish()
}

// randomEnd lets podd live for a while and ends it.
func (r *round) randomEnd() error {
	if r.podd.over() {
		if r.random.IntN(8) == 0 {
			if err := r.start(); err != nil {
				return err
			}
			// Before it answers, most of the time.
			pause(r.ctx, time.Duration(r.random.IntN(60))*time.Millisecond)
			r.kill()
			return r.rest()
		}
		if err := r.up(); err != nil {
			return err
		}
	}
	pause(r.ctx, time.Duration(r.random.IntN(400))*time.Millisecond)
	for _, p := range r.pods {
		if !await(r.ctx, func() bool { return !p.raw.weary() || r.podd.over() }) {
			return r.stuck()
		}
	}
	switch {
	case r.podd.over():
		r.tally.Other.add("podd ended by itself: %v", r.podd.cmd.ProcessState)
	case r.random.IntN(10) == 0:
		r.terminate(r.random.IntN(2) == 0)
	default:
		r.kill()
	}
	return nil
}

// rest starts podd and lets each open turn get an answer: podd gives a turn up that is
// ended too often in between.
func (r *round) rest() error {
	if err := r.up(); err != nil {
		return err
	}
	mark := make(map[*pod]int64)
	for _, p := range r.pods {
		mark[p] = p.raw.last()
	}
	for _, p := range r.pods {
		rested := func() bool {
			return r.podd.over() || p.raw.last() > mark[p] && p.raw.fresh() || r.busy() == ""
		}
		if !await(r.ctx, rested) {
			return r.stuck()
		}
	}
	return nil
}

// work gives a pod jobs until ctx ends, some of them twice.
func (r *round) work(ctx context.Context, p *pod, seed uint64) {
	random := newRandom(seed)
	for n := 1; ctx.Err() == nil; n++ {
		if !p.submits.submit(ctx, randomJob(random, n, r.answers)) {
			return
		}
		if acked := p.submits.all(); random.IntN(4) == 0 {
			p.submits.again(ctx, acked[random.IntN(len(acked))])
		}
		await(ctx, func() bool { return p.submits.waiting(p.raw) < mostWaiting })
	}
}
