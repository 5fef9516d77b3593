package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// cutRounds do what effect rounds do on a file system of their own, and cut its power after half of
// the kills: a tenth as often as all other rounds end podd.
func (rn *runner) cutRounds(ctx context.Context, t *Tally) error {
	if rn.Short {
		return nil // It mounts file systems.
	}
	most := rn.Kills / 10
	if rn.Only == "cuts" {
		most = rn.Kills
	}
	for seed := rn.Seed; t.Cuts < most; seed++ {
		left := most - t.Cuts
		name := fmt.Sprintf("cuts-%d", seed)
		if err := os.MkdirAll(filepath.Join(rn.Dir, name), 0o700); err != nil {
			return err
		}
		d, err := newDisk(ctx, filepath.Join(rn.Dir, name), seed)
		if err != nil && rn.Only != "cuts" {
			fmt.Fprintf(rn.Out, "no power cuts: %v\n", err)
			return nil
		}
		if err != nil {
			return err
		}
		wrong := len(t.Failures())
		err = rn.round(ctx, t, filepath.Join(name, "disk", "d"), settings{api: apis[seed%3], till: true, notes: d.dir}, seed, func(r *round) error {
			r.disk = d
			return cutRound(r, min(left, cutsOfRound))
		})
		if endErr := d.close(ctx, len(t.Failures()) > wrong); err == nil {
			err = endErr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cutsOfRound is how often a round cuts the power.
const cutsOfRound = 10

// cutRound lets pods make calls of each kind, and kills podd again and again at one of its steps, half
// the time together with all that the disk has not on its plate.
func cutRound(r *round, cuts int) error {
	if err := r.effectPods(); err != nil {
		return err
	}
	return r.effectsUntil(func() bool { return r.tally.Cuts >= cuts })
}

// cut cuts the power of the disk after a kill, half the time.
func (r *round) cut() error {
	if r.disk == nil || r.random.IntN(2) == 0 {
		return nil
	}
	r.tally.Cuts++
	return r.disk.cut(r.ctx, r.random)
}
