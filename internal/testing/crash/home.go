package crash

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// apply brings the pod's files to the person, who writes some of them meanwhile. began is what the
// pod began with.
func (c *checkouts) apply(name, dir string, began map[string]string) error {
	theirs, err := texts(dir)
	if err != nil {
		return err
	}
	mine, err := texts(c.repo)
	if err != nil {
		return err
	}
	// The person's notes and f-1 are in the way, whatever the pod did.
	end := c.writing("f-1", "mine")
	_, err = c.ask(dir, func(ctx context.Context) error {
		_, err := c.client.Checkouts().ApplyCheckout(ctx, &poddv1.ApplyCheckoutRequest{Pod: name, Skip: true})
		return err
	}, c.unharmed)
	if endErr := end(); endErr != nil {
		return endErr
	}
	if err != nil {
		c.tally.Other.add("the files of %s cannot be applied: %v", name, err)
		return c.ctx.Err()
	}
	want := maps.Clone(mine)
	for path := range union(began, theirs) {
		now, was := theirs[path], began[path]
		if now == was || mine[path] != was && mine[path] != now {
			continue
		}
		// It is the person's now, too, and what a next time begins with.
		if want[path], began[path] = now, now; now == "" {
			delete(want, path)
			delete(began, path)
		}
	}
	got, err := texts(c.repo)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(union(got, want))) {
		if got[path] != want[path] && path != "f-1" && path != "mine" {
			c.tally.Lost.add("after %s was applied %s is %q, want %q", name, path, got[path], want[path])
		}
	}
	return c.keep()
}

// keep commits all that the person did not begin with.
func (c *checkouts) keep() error {
	if _, err := c.git(c.repo, "add", "-A"); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(c.mine))
	if _, err := c.git(c.repo, append([]string{"reset", "-q", "--"}, names...)...); err != nil {
		return err
	}
	_, err := c.git(c.repo, "commit", "-q", "--allow-empty", "-m", "applied")
	return err
}

// remove deletes the pod with its checkout: not while that has something that is nowhere else.
func (c *checkouts) remove(name, dir string) error {
	if c.random.IntN(2) == 0 {
		if err := put(dir, "cache/kept", "ignored by git"); err != nil {
			return err
		}
	}
	commits := c.random.IntN(3) == 0
	if commits {
		if _, err := c.git(dir, "commit", "-q", "--allow-empty", "-m", "nowhere else"); err != nil {
			return err
		}
	}
	left, err := c.dirty(dir)
	if err != nil {
		return err
	}
	if len(left) > 0 || commits {
		if err := c.refused(name, dir, left); err != nil {
			return err
		}
	}
	if commits {
		if _, err := c.git(c.repo, "fetch", "-q", dir, "+HEAD:refs/heads/saved-"+name); err != nil {
			return err
		}
	}
	before, err := texts(dir)
	if err != nil {
		return err
	}
	sure, err := c.delete(name, dir, left)
	// A deletion whose answer was lost may have been done.
	done := item.KindOf(err) == item.KindNotFound || item.ReasonOf(err) == "IN_TRASH"
	if err != nil && (sure || !done) {
		c.tally.Other.add("%s cannot be deleted: %v", name, err)
		return c.ctx.Err()
	}
	return c.trashed(name, dir, before)
}

// trashed checks that a removed checkout is in the trash, with all that it had.
func (c *checkouts) trashed(name, dir string, before map[string]string) error {
	if _, err := os.Lstat(dir); err == nil {
		c.tally.Other.add("the checkout of %s is still there", name)
	}
	// What was let go stays in the trash for its time.
	trash, err := filepath.Glob(filepath.Join(c.place, ".trash", name+"-*", filepath.Base(dir)))
	if err != nil || len(trash) != 1 {
		return fmt.Errorf("the trash has %q of %s: %w", trash, name, err)
	}
	if err := c.sound(filepath.Join(trash[0], ".git")); err != nil {
		return err
	}
	after, err := texts(trash[0])
	if !maps.Equal(before, after) {
		c.tally.Lost.add("%s had %q and has %q in the trash", name, before, after)
	}
	return err
}

func (c *checkouts) delete(name, dir string, drop []string) (sure bool, err error) {
	return c.ask(dir, func(ctx context.Context) error {
		_, err := c.client.Pods().DeletePod(ctx, &poddv1.DeletePodRequest{Pod: name, Checkout: true, Drop: drop})
		return err
	}, c.well)
}

// refused tries to delete a pod whose checkout has what is nowhere else.
func (c *checkouts) refused(name, dir string, left []string) error {
	before, err := texts(dir)
	if err != nil {
		return err
	}
	_, err = c.delete(name, dir, nil)
	if item.ReasonOf(err) != "CHECKOUT_NOT_SAVED" {
		c.tally.Lost.add("%s was deleted with %q in its checkout: %v", name, left, err)
	}
	after, err := texts(dir)
	if !maps.Equal(before, after) {
		c.tally.Lost.add("%s had %q and has %q after a refusal: %v", name, before, after, err)
	}
	if c.state(&pod{name: name}) == nil {
		c.tally.Lost.add("%s is gone after a refusal", name)
	}
	return c.ctx.Err()
}
