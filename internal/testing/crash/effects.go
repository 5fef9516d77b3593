package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// effectRounds kill podd at each step of each kind of call, and at each step of what it does about
// calls that its last end interrupted: half as often as all other rounds end it.
func (rn *runner) effectRounds(ctx context.Context, t *Tally) error {
	most := (rn.Kills + 1) / 2
	if rn.Only == "effects" {
		most = rn.Kills
	}
	for seed := rn.Seed; t.Kills < most; seed++ {
		left := most - t.Kills
		s := settings{api: apis[seed%3], till: true}
		err := rn.round(ctx, t, fmt.Sprintf("effects-%d", seed), s, seed, func(r *round) error {
			return effectRound(r, min(left, killsOfEffects))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// How many pods a round has, how often it kills podd, and how long it waits for a kill.
const (
	effectPods     = 3
	killsOfEffects = 20
	mostOfLife     = 5 * time.Second
)

// effectRound lets pods make calls of each kind, kills podd again and again at one of its steps, and
// compares the files with what the log makes of them.
func effectRound(r *round, kills int) error {
	if err := r.effectPods(); err != nil {
		return err
	}
	return r.effectsUntil(func() bool { return r.tally.Kills >= kills })
}

// effectsUntil lets the pods make calls and kills podd, until it is enough.
func (r *round) effectsUntil(over func() bool) error {
	working, enough := context.WithCancel(r.ctx)
	defer enough()
	var hands sync.WaitGroup
	for _, p := range r.pods {
		random := newRandom(r.random.Uint64())
		hands.Go(func() { p.effects(working, random) })
	}
	r.kill()
	for !over() {
		if err := r.lives(); err != nil {
			return err
		}
	}
	enough()
	hands.Wait()
	return r.finish()
}

// effectPods makes the pods and the files that they change.
func (r *round) effectPods() error {
	r.replays = true
	for i := range effectPods {
		p, err := r.addPod(fmt.Sprintf("p%d", i))
		if err != nil {
			return err
		}
		for path, text := range startFiles() {
			if err := os.WriteFile(filepath.Join(p.dir, path), []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	if r.disk != nil {
		// A cut must not take the configuration away.
		if err := r.disk.sync(); err != nil {
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
	return nil
}

// effects gives the pod jobs until ctx ends.
func (p *pod) effects(ctx context.Context, random *rand.Rand) {
	for n := 1; ctx.Err() == nil; n++ {
		steps := strings.ReplaceAll(effectSteps[random.IntN(len(effectSteps))], "MS", strconv.Itoa(random.IntN(40)))
		if !p.submits.submit(ctx, fmt.Sprintf("job-%d: %s", n, steps)) {
			return
		}
		await(ctx, func() bool { return p.submits.waiting(p.raw) < mostWaiting })
	}
}

// effectSteps are jobs which have each kind of call, alone and beside others. MS is how long a
// command takes.
var effectSteps = []string{
	"over fix; write write; patch", "patch over; write write; patch fix; read",
	"fix fix over over", "change/MS/0; change/MS/3 change/0/0", "later/MS/0 change/MS/0; fix",
	"pay look; pay", "look read look; over patch", "spawn/MS/0 over; fix", "over; show; over", "write write; patch pay; later/MS/0",
	"keep/MS/0 pay keep/MS/0",
}

// stepCalls are the calls that a life counts, and how many of them a thread makes before podd is
// killed, at most.
var stepCalls = []struct {
	calls string
	most  int
}{
	{"pwrite64", 60}, {"fdatasync", 40}, {"renameat,renameat2,unlinkat,fsync,mkdirat,linkat", 12}, {"write", 80}, {"openat", 150},
}

// lives are podd that are killed at one of their steps, until a turn needs an answer: podd gives up
// one that is interrupted too often. Then one podd works until each turn has an answer.
func (r *round) lives() error {
	without := make(map[*pod]int)
	for {
		before := make(map[*pod]int)
		for _, p := range r.pods {
			before[p] = p.raw.answers()
		}
		if err := r.life(); err != nil {
			return err
		}
		for _, p := range r.pods {
			if without[p]++; p.raw.answers() > before[p] {
				without[p] = 0
			}
			if without[p] == livesWithout {
				if err := r.rest(); err != nil {
					return err
				}
				r.kill()
				return r.cut()
			}
		}
	}
}

// livesWithout is how many podd in a row may end before a turn has an answer, so that one more may.
const livesWithout = mostResumes - 1

// life is a podd that is killed at one of its steps.
func (r *round) life() error {
	step := stepCalls[r.random.IntN(len(stepCalls))]
	if err := r.start(r.tracer(step.calls, "signal=SIGKILL", strconv.Itoa(1+r.random.IntN(step.most)))...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, mostOfLife)
	defer cancel()
	if !await(ctx, r.podd.over) {
		r.podd.signal(syscall.SIGKILL)
		<-r.podd.exited
	}
	if !r.podd.killed() {
		r.tally.Other.add("podd ended by itself: %v", r.podd.cmd.ProcessState)
		return errStuck
	}
	r.tally.Kills++
	return errors.Join(r.ctx.Err(), r.cut())
}
