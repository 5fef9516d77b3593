package crash

import (
	"context"
	"math"
	"strconv"
	"syscall"
)

// pointRound runs podd under a tracer that ends it, or makes one of its calls fail, at
// some call. Then it starts podd again without the tracer and lets it finish. hit says
// that the tracer acted.
func pointRound(r *round, tracer []string, fine func(*process) bool) (hit bool, err error) {
	p, err := r.addPod("p")
	if err != nil {
		return false, err
	}
	r.follow()
	close(r.model.gate)
	if err := r.start(tracer...); err != nil {
		return false, err
	}
	worked := make(chan struct{})
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	r.tasks.Go(func() {
		defer close(worked)
		r.someWork(ctx, p)
	})
	if r.answering() {
		r.serveApprovals()
	}
	if !await(r.ctx, func() bool { return r.podd.over() || done(worked) && r.busy() == "" }) {
		return false, r.stuck()
	}
	// The checks at the end run without the tracer.
	hit = r.podd.over() || r.injected()
	r.podd.signal(syscall.SIGTERM)
	<-r.podd.exited
	hit = hit || r.injected()
	if r.podd.killed() {
		r.tally.Kills++
	} else {
		r.tally.Ends++
	}
	if r.podd.code() != 0 && !fine(r.podd) {
		r.tally.Other.add("podd ended with %v (store failed: %v)", r.podd.cmd.ProcessState, r.podd.sawFailure)
	}
	if done(worked) {
		r.leave()
	}
	if err := r.up(); err != nil {
		return hit, err
	}
	if !r.answers {
		r.serveApprovals()
	}
	if !await(r.ctx, func() bool { return done(worked) }) {
		return hit, r.stuck()
	}
	return hit, r.finish()
}

func done(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// someWork is what a pod does once: its creation, and submits that get queued and need
// each kind of call.
func (r *round) someWork(ctx context.Context, p *pod) {
	for r.create(p) != nil {
		if !pause(ctx, retryPause) {
			return
		}
	}
	first := "job-1: shell/15/0 shell/5/3; write; read"
	if r.asks {
		first += "; ask/5/0"
	}
	_ = p.submits.submit(ctx, first) && p.submits.submit(ctx, "job-2: shell/5/0")
	if acked := p.submits.all(); len(acked) > 0 {
		p.submits.resubmit(ctx, acked[0])
	}
}

// pointRounds kills podd at each call that writes.
func (rn *runner) pointRounds(ctx context.Context, t *Tally) error {
	for _, calls := range []string{storeCalls, fileCalls} {
		err := rn.each(ctx, t, "kill-"+calls[:5], endless, func(r *round, n int) (bool, error) {
			return pointRound(r, r.tracer(calls, "signal=SIGKILL", strconv.Itoa(n)), (*process).killed)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// faultRounds makes each call fail once, on each thread that gets that far.
func (rn *runner) faultRounds(ctx context.Context, t *Tally) error {
	for _, f := range []struct {
		name, calls, errno string
		most               int
	}{
		{"eio-write", "pwrite64", "EIO", endless},
		{"eio-files", "write", "EIO", mostWrites},
		{"eio-sync", "fdatasync,fsync", "EIO", endless},
		{"full-write", spaceCalls, "ENOSPC", endless},
		{"full-files", "write", "ENOSPC", mostWrites},
		{"full-sync", "fdatasync,fsync", "ENOSPC", endless},
	} {
		err := rn.each(ctx, t, f.name, f.most, func(r *round, n int) (bool, error) {
			return pointRound(r, r.tracer(f.calls, "error="+f.errno, strconv.Itoa(n)), func(p *process) bool {
				// Before podd answers, it must say why it can't; later its store must have failed.
				return p.code() == 1 && (p.sawFailure || !done(p.ready)) || p.sawThrow
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Files, and sockets to clients and to the model, are written very often.
const (
	mostWrites = 16
	endless    = math.MaxInt
)

// each runs a round for each number of a call up to most, until two consecutive numbers
// were never reached.
func (rn *runner) each(ctx context.Context, t *Tally, name string, most int, run func(r *round, n int) (bool, error)) error {
	missed := 0
	for n := 1; missed < 2 && n <= most; n++ {
		if rn.Short {
			// One in the middle.
			n, missed = 9, 1
		}
		missed++
		s := settings{api: apis[n%len(apis)], asks: n/len(apis)%3 == 0}
		err := rn.round(ctx, t, name+"-"+strconv.Itoa(n), s, uint64(n), func(r *round) error {
			hit, err := run(r, n)
			if hit && !rn.Short {
				missed = 0
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
