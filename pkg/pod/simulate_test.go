package pod_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Whatever clients do in any order, with stops and kills of podd, failing writes and broken answers of the model at any place:
// each acknowledged submit that was not withdrawn is taken by one turn, what podd acknowledged is in the log, no call runs twice
// or without a required approval, no turn fails, podd reports the end of each sub-pod in the background once, and the pod becomes
// idle when everything that waits is released.
func TestAnythingAtAnyTime(t *testing.T) {
	anything(t,
		"submit", "submit", "begin", "begin", "steer", "steer", "again", "note", "wake", "withdraw", "cancel", "pause", "resume", "resume",
		"approve", "approve", "approve", "deny", "mistake", "wait", "clock", "stop", "kill", "kill",
	)
}

// The same holds for a pod that is deleted and restored, or killed in the middle of that.
func TestAnythingAroundADelete(t *testing.T) {
	anything(t, "submit", "submit", "begin", "begin", "steer", "again", "note", "wake", "pause", "approve", "approve", "wait", "stop", "kill", "kill", "delete", "delete", "restore", "restore", "restore")
}

// The same holds for a pod whose history is cut, forked, summarized and purged, apart from the ends of sub-pods.
func TestAnythingAroundACut(t *testing.T) {
	anything(t, "submit", "submit", "steer", "again", "note", "wake", "withdraw", "cancel", "approve", "approve", "deny", "wait", "stop", "kill", "kill", "rewind", "rewind", "rewind", "fork", "fork", "compact")
}

// step is what one client does, with the seed of the choices until the next step.
type step struct {
	action string
	seed   uint64
}

// history is that of a seed.
func history(seed uint64, all []string) []step {
	choices := rand.New(rand.NewPCG(seed, 0))
	steps := make([]step, 5+choices.IntN(21))
	for i := range steps {
		steps[i] = step{all[choices.IntN(len(all))], choices.Uint64()}
	}
	return steps
}

// simulate runs a history in virtual time.
func simulate(t *testing.T, steps []step) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, slices.ContainsFunc(steps, func(s step) bool { return s.action == "trigger" }))
		t.Cleanup(func() {
			if t.Failed() || os.Getenv("PODD_SEED") != "" {
				t.Logf("the history:\n%s", strings.Join(m.story, "\n"))
			}
		})
		for _, s := range steps {
			m.choices = rand.New(rand.NewPCG(s.seed, 0))
			m.do(s.action)
			m.advance([]int{0, 1 + m.choices.IntN(3), 1 + m.choices.IntN(10), 1000}[m.choices.IntN(4)])
		}
		m.settle()
		m.check()
		if m.cut {
			_, _ = m.host.Compact(t.Context(), "p")
			m.sweep()
		}
	})
}

// anything runs the histories of PODD_SEEDS seeds from PODD_SEED on, of one if only that is set, and makes a failing one shorter.
func anything(t *testing.T, all ...string) {
	first, most := 1, 1000
	if testing.Short() {
		most = 10
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_SEED")); err == nil {
		first, most = n, 1
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_SEEDS")); err == nil {
		most = n
	}
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm") // A sync takes no time there: a kill is simulated.
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !t.Failed() {
				n := int(next.Add(1)) - 1
				if n >= most {
					return
				}
				steps := history(uint64(first+n), all)
				if !t.Run(fmt.Sprint("seed", first+n), func(t *testing.T) { simulate(t, steps) }) {
					shorten(t, steps)
				}
			}
		})
	}
	workers.Wait()
}

// shorten leaves steps out of a history that fails while it still fails.
func shorten(t *testing.T, steps []step) {
	for i := len(steps) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		if !t.Run(fmt.Sprint("shorter", len(fewer)), func(t *testing.T) { simulate(t, fewer) }) {
			steps = fewer
		}
	}
}
