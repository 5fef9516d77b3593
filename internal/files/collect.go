package files

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Needed are the commits of a directory that are needed. Always are those that stay also when the
// repository has more than Config.Room.
type Needed struct{ Commits, Always []string }

// Collect frees the space of unneeded checkpoints. keep has the needed ones by directory;
// repositories of other directories go. Commits since a time stay: their logs may have been read
// before.
func (s *Stores) Collect(ctx context.Context, keep map[string]Needed, since time.Time) error {
	paths, err := filepath.Glob(filepath.Join(s.Dir, "*.git"))
	if err != nil {
		return err
	}
	needed := make(map[string]bool)
	for dir, need := range keep {
		path := s.place(dir)
		needed[path] = true
		if !slices.Contains(paths, path) {
			continue
		}
		w := s.Of(dir)
		err = errors.Join(err, w.collect(ctx, need, since), w.Rest())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, path := range paths {
		if !needed[path] && !s.used(path) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// used says whether a turn has the repository open: its log has no checkpoint yet.
func (s *Stores) used(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.open {
		if w.path == path {
			return true
		}
	}
	return false
}

// collect writes what is needed into one pack and removes the others, if that is worth it.
func (w *Workspace) collect(ctx context.Context, need Needed, since time.Time) error {
	return w.use(func() error {
		if w.now != nil {
			// The next checkpoint takes the bytes of unchanged files as stored.
			w.now, w.tips, w.moved = nil, nil, false
			_ = os.Remove(filepath.Join(w.path, stampsFile))
		}
		if err := w.repo.free(ctx, need.Commits, since, 4); err != nil {
			return err
		}
		size, err := w.repo.size()
		if err == nil && size > w.all.Room {
			err = w.repo.free(ctx, need.Always, since, math.MaxInt32)
		}
		return cmp.Or(err, forgetLeft(w.path))
	})
}

// free removes all but some commits and those since a time, if at least one of so many objects
// can go.
func (r *repo) free(ctx context.Context, commits []string, since time.Time, of int64) error {
	c := &collection{ctx: ctx, repo: r, live: make(map[plumbing.Hash]bool), parents: make(map[plumbing.Hash]plumbing.Hash)}
	for _, id := range commits {
		if _, err := c.commit(hashOf(id)); err != nil {
			return err
		}
	}
	heads, err := r.heads()
	if err != nil {
		return err
	}
	for _, id := range heads {
		if err := c.recent(id, since); err != nil {
			return err
		}
	}
	total, err := r.objects()
	if err != nil || (total-int64(len(c.live)))*of < total {
		return err
	}
	if err := c.cut(heads); err != nil {
		return err
	}
	return r.repack(ctx, r.packs, func(id plumbing.Hash) bool { return c.live[id] })
}

// collection is what is needed of a repository.
type collection struct {
	ctx  context.Context
	repo *repo
	live map[plumbing.Hash]bool
	// parents are those of the commits.
	parents map[plumbing.Hash]plumbing.Hash
}

// commit marks a commit and its files. One that is missing was collected before.
func (c *collection) commit(id plumbing.Hash) (k commit, err error) {
	if !c.repo.has(id) {
		return k, nil
	}
	if k, err = c.repo.commit(id); err != nil || c.live[id] {
		return k, err
	}
	c.live[id], c.parents[id] = true, k.parent
	return k, c.tree(k.root())
}

// recent marks the last commits of a branch.
func (c *collection) recent(id plumbing.Hash, since time.Time) error {
	for c.repo.has(id) {
		k, err := c.repo.commit(id)
		if err != nil || k.at.Before(since) {
			return err
		}
		if _, err := c.commit(id); err != nil {
			return err
		}
		id = k.parent
	}
	return nil
}

func (c *collection) tree(n *node) error {
	if c.live[n.Hash] {
		return nil
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	c.live[n.Hash] = true
	kids, err := c.repo.tree(n)
	if err != nil {
		return err
	}
	for _, k := range kids {
		if !k.isDir() {
			c.live[k.Hash] = true
		} else if err := c.tree(k); err != nil {
			return err
		}
	}
	return nil
}

// cut tells git where history ends now, and removes branches that end elsewhere.
func (c *collection) cut(heads map[string]plumbing.Hash) error {
	var shallow []string
	for id, parent := range c.parents {
		if !parent.IsZero() && !c.live[parent] {
			shallow = append(shallow, id.String()+"\n")
		}
	}
	slices.Sort(shallow)
	if err := replace(filepath.Join(c.repo.path, "shallow"), []byte(strings.Join(shallow, ""))); err != nil {
		return err
	}
	for branch, id := range heads {
		if c.live[id] {
			continue
		}
		if err := os.Remove(c.repo.ref(branch)); err != nil {
			return err
		}
	}
	return nil
}
