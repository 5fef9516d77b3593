package checkpoint

import (
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

// manyPacks is how many packs a repository has at most for long: a turn begins by reading the
// index of each, and a look searches all of them.
const manyPacks = 64

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
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return w.failed(err)
	}
	if err := w.repo.flush(); err != nil {
		return w.failed(err)
	}
	if w.now != nil {
		// The next checkpoint takes the bytes of unchanged files as stored.
		w.now, w.tips, w.moved = nil, nil, false
		_ = os.Remove(filepath.Join(w.path, stampsFile))
	}
	if err := w.repo.free(ctx, need.Commits, since, 4); err != nil {
		return w.failed(err)
	}
	size, err := w.repo.size()
	if err == nil && size > w.all.Room {
		err = w.repo.free(ctx, need.Always, since, math.MaxInt32)
	}
	if err == nil {
		err = forgetLeft(w.path)
	}
	if err != nil {
		return w.failed(err)
	}
	return nil
}

// free removes all but some commits and those since a time, if at least one of so many objects
// can go, or there are many packs.
func (r *repo) free(ctx context.Context, commits []string, since time.Time, of int64) error {
	c := &collection{ctx: ctx, repo: r, live: make(map[plumbing.Hash]plumbing.ObjectType), parents: make(map[plumbing.Hash]plumbing.Hash)}
	for _, id := range commits {
		if err := c.commit(hashOf(id)); err != nil {
			return err
		}
	}
	if err := c.recent(since); err != nil {
		return err
	}
	total, err := r.objects()
	if err != nil || len(r.packs) < manyPacks && (total-int64(len(c.live)))*of < total {
		return err
	}
	return c.rewrite()
}

// collection is what is needed of a repository.
type collection struct {
	ctx  context.Context
	repo *repo
	live map[plumbing.Hash]plumbing.ObjectType
	// parents are those of the commits.
	parents map[plumbing.Hash]plumbing.Hash
}

// commit marks a commit and its files. One that is missing was collected before.
func (c *collection) commit(id plumbing.Hash) error {
	if c.live[id] != 0 || !c.repo.has(id) {
		return nil
	}
	data, err := c.repo.read(id)
	if err != nil {
		return err
	}
	tree, err := treeOf(data)
	if err != nil {
		return err
	}
	c.live[id], c.parents[id] = plumbing.CommitObject, parentOf(data)
	return c.tree(&node{File: File{Mode: typeDir, Hash: tree}})
}

// recent marks the last commits of each branch.
func (c *collection) recent(since time.Time) error {
	heads := filepath.Join(c.repo.path, "refs", "heads")
	branches, err := os.ReadDir(heads)
	if err != nil {
		return err
	}
	for _, b := range branches {
		data, err := os.ReadFile(filepath.Join(heads, b.Name()))
		if err != nil {
			return err
		}
		for id := hashOf(strings.TrimSpace(string(data))); c.repo.has(id) && c.live[id] == 0; {
			data, err := c.repo.read(id)
			if err != nil {
				return err
			}
			// No log has a save before the next look of its turn, however long a command runs.
			if timeOf(data).Before(since) {
				break
			}
			if err := c.commit(id); err != nil {
				return err
			}
			id = parentOf(data)
		}
	}
	return nil
}

func (c *collection) tree(n *node) error {
	if c.live[n.Hash] != 0 {
		return nil
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	c.live[n.Hash] = plumbing.TreeObject
	kids, err := c.repo.tree(n)
	if err != nil {
		return err
	}
	for _, k := range kids {
		if !k.isDir() {
			c.live[k.Hash] = plumbing.BlobObject
		} else if err := c.tree(k); err != nil {
			return err
		}
	}
	return nil
}

// rewrite makes one pack of what is needed. It removes the others when that one is on disk.
func (c *collection) rewrite() error {
	old := slices.Clone(c.repo.packs)
	p := &packer{repo: c.repo, again: true}
	defer p.drop()
	for id, kind := range c.live {
		if err := context.Cause(c.ctx); err != nil {
			return err
		}
		data, err := c.repo.read(id)
		if err != nil {
			return err
		}
		if _, err := p.add(kind, data); err != nil {
			return err
		}
	}
	if _, err := p.finish(); err != nil {
		return err
	}
	if err := c.cut(); err != nil {
		return err
	}
	made := ""
	if len(c.live) > 0 {
		made = c.repo.packs[len(c.repo.packs)-1].name
	}
	for _, pack := range old {
		if pack.name == made {
			continue
		}
		if err := errors.Join(os.Remove(pack.name+".pack"), os.Remove(pack.name+".idx")); err != nil {
			return err
		}
	}
	return c.repo.load()
}

// cut tells git where history ends now, and removes branches that end elsewhere.
func (c *collection) cut() error {
	var shallow []string
	for id, parent := range c.parents {
		if !parent.IsZero() && c.live[parent] == 0 {
			shallow = append(shallow, id.String()+"\n")
		}
	}
	slices.Sort(shallow)
	if err := replace(filepath.Join(c.repo.path, "shallow"), []byte(strings.Join(shallow, ""))); err != nil {
		return err
	}
	heads := filepath.Join(c.repo.path, "refs", "heads")
	branches, err := os.ReadDir(heads)
	if err != nil {
		return err
	}
	for _, b := range branches {
		data, err := os.ReadFile(filepath.Join(heads, b.Name()))
		if err == nil && c.live[hashOf(strings.TrimSpace(string(data)))] == 0 {
			err = os.Remove(filepath.Join(heads, b.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
