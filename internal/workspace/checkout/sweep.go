package checkout

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"podd/pkg/scopefs/git"
)

// Settle ends what a killed podd began: it removes checkouts whose pods were never made, and ends
// landings. exists says whether a pod exists, deleted ones in the trash included. says are sentences
// about what a person has to look at.
func (all *Checkouts) Settle(ctx context.Context, exists func(pod string) (bool, error)) (says []string, err error) {
	if _, err := os.Lstat(all.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := runs(all.Dir).quiet(ctx, all.Logger); err != nil {
		return nil, err
	}
	records, err := all.records(git.Resolve(all.Dir))
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Landing != nil {
			look, e := all.resume(ctx, r)
			if err = errors.Join(err, e); look != "" {
				says = append(says, look)
			}
		}
		if r.Made {
			continue
		}
		made, e := exists(r.Pod)
		switch {
		case e != nil:
		case made:
			e = all.Keep(r)
		default:
			e = all.Discard(ctx, r)
		}
		err = errors.Join(err, e)
	}
	return says, errors.Join(err, os.RemoveAll(all.temp()))
}

// Sweep removes for good what was in the trash for a time, if still nothing is left in it.
func (all *Checkouts) Sweep(ctx context.Context, keep time.Duration) error {
	records, err := all.records(git.Resolve(all.trash()))
	for _, r := range records {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.Removed.Add(keep).After(all.Now()) {
			continue
		}
		err = errors.Join(err, all.sweep(ctx, r))
	}
	return err
}

func (all *Checkouts) sweep(ctx context.Context, r *Record) error {
	defer all.lock(r)()
	if _, err := os.Lstat(r.Dir()); err == nil {
		left, err := all.left(ctx, r, r.Drop)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			all.Logger.Warn("a removed checkout stays: it has what is nowhere else", "checkout", r.Dir(), "what", left[0].What, "name", left[0].Name)
			return nil
		}
	}
	if err := r.destroy(); err != nil {
		return err
	}
	all.Logger.Info("removed a checkout for good", "checkout", r.Dir())
	return nil
}
