package checkout

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"podd/pkg/scopefs/git"
)

// With calls do with the record of a checkout, as stored, while nobody else changes it. do changes
// it by Save.
func (all *Checkouts) With(r *Record, do func(r *Record) error) error {
	defer all.lock(r)()
	r, err := load(r.place)
	if err != nil {
		return err
	}
	return do(r)
}

// Save stores a record in With.
func (r *Record) Save() error { return full(r.save()) }

// Ignored are those of some paths of a checkout that git ignores there.
func (all *Checkouts) Ignored(ctx context.Context, r *Record, paths []string) (map[string]bool, error) {
	ignored := make(map[string]bool)
	if len(paths) == 0 {
		return ignored, nil
	}
	c := r.reading("check-ignore", "-z", "--stdin")
	c.stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := all.git(ctx, c)
	if failed, ok := errors.AsType[*failure](err); err != nil && (!ok || !exitedWith(failed.err, 1)) {
		return nil, err
	}
	for _, path := range fields(out) {
		ignored[path] = true
	}
	return ignored, nil
}

// Applied are the checkpoints that checkouts still need, by the directory of each, those in the
// trash too.
func (all *Checkouts) Applied() (map[string]string, error) {
	needed := make(map[string]string)
	for _, dir := range []string{all.Dir, all.trash()} {
		records, err := all.records(git.Resolve(dir))
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if r.Applied != "" {
				needed[filepath.Join(git.Resolve(all.Dir), r.Name, filepath.Base(r.Source))] = r.Applied
			}
		}
	}
	return needed, nil
}
