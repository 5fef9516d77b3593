package crash

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Kills at random times: how many pods work at once, how many submits of one may wait.
const (
	randomPods  = 3
	mostWaiting = 2
	lastJob     = "job-99999: shell/5/0"
)

// randomRound ends podd the given number of times at random while pods work, and then
// lets them finish.
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
	close(r.model.gate) // Release stalled answers.
	if err := r.backgroundJob(r.pods[0]); err != nil {
		return err
	}
	working, enough := context.WithCancel(r.ctx)
	defer enough()
	var hands sync.WaitGroup
	for _, p := range r.pods {
		h := &hand{scene: r.scene, client: r.client, ctx: working, pod: p, random: newRandom(r.random.Uint64())}
		hands.Go(h.work)
	}
	for range kills {
		if err := r.randomEnd(); err != nil {
			return err
		}
	}
	enough()
	if err := r.up(); err != nil { // A paused pod has to be resumed.
		return err
	}
	hands.Wait()
	if r.random.IntN(2) == 0 {
		r.leave()
	}
	if err := r.lastJobs(); err != nil {
		return err
	}
	if err := r.sameAfterKill(); err != nil {
		return err
	}
	return r.finish()
}

// lastJobs gives each pod one more job once all are idle: whatever waits for a next turn
// gets one.
func (r *round) lastJobs() error {
	if err := r.up(); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	for _, p := range r.all() {
		p.submits.submit(r.ctx, lastJob)
	}
	return r.settle()
}

// randomEnd lets podd run for a while and ends it.
func (r *round) randomEnd() error {
	if r.podd.over() {
		if r.random.IntN(8) == 0 {
			if err := r.start(); err != nil {
				return err
			}
			// Mostly before it answers.
			pause(r.ctx, time.Duration(r.random.IntN(60))*time.Millisecond)
			r.kill()
			return r.rest()
		}
		if err := r.up(); err != nil {
			return err
		}
	}
	pause(r.ctx, time.Duration(r.random.IntN(400))*time.Millisecond)
	if !await(r.ctx, func() bool { return r.podd.over() || r.mayEnd() }) {
		return r.stuck()
	}
	switch {
	case r.podd.over():
		r.tally.Other.add("podd ended by itself: %v", r.podd.cmd.ProcessState)
	case r.db != nil && r.random.IntN(3) == 0:
		return randomDatabaseEnd(r)
	case r.random.IntN(10) == 0:
		r.terminate(r.random.IntN(2) == 0)
	default:
		r.kill()
	}
	return nil
}

// mayEnd says that no pod would give its turn up if podd were ended now. Followers may
// not know yet what this podd has done.
func (r *round) mayEnd() bool {
	for _, name := range r.expected() {
		if r.state(&pod{name: name}) != nil {
			return false // It has no follower yet.
		}
	}
	for _, p := range r.all() {
		now := r.state(p)
		if now == nil || p.raw.last() < now.GetLastSeq() || p.raw.weary() {
			return false
		}
	}
	return true
}

// rest starts podd and lets each open turn get an answer: podd gives up a turn that is
// interrupted too often in between.
func (r *round) rest() error {
	if err := r.up(); err != nil {
		return err
	}
	mark := make(map[*pod]int64)
	for _, p := range r.all() {
		mark[p] = p.raw.last()
	}
	for _, p := range r.all() {
		rested := func() bool {
			return r.podd.over() || p.raw.fresh() && (p.raw.last() > mark[p] || resting(r.state(p)))
		}
		if !await(r.ctx, rested) {
			return r.stuck()
		}
	}
	return nil
}

// work gives the pod jobs and performs acts on it until ctx ends.
func (h *hand) work() {
	for h.ctx.Err() == nil {
		if !h.pod.submits.submit(h.ctx, h.job()) {
			return
		}
		h.next()
		await(h.ctx, func() bool { return h.pod.submits.waiting(h.pod.raw) < mostWaiting })
	}
}
