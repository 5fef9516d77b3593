package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// killsOfCheckouts is how often a round with checkouts ends podd: each cycle takes a while.
const killsOfCheckouts = 5

// checkoutRounds end podd while pods get checkouts of a person's repository, work there, bring that
// home and are deleted, and the person works in the repository: a quarter as often as all other
// rounds end it.
func (rn *runner) checkoutRounds(ctx context.Context, t *Tally) error {
	for seed := rn.Seed; t.Kills < (rn.Kills+3)/4; seed++ {
		left, skipped := (rn.Kills+3)/4-t.Kills, t.Skipped
		err := rn.round(ctx, t, fmt.Sprintf("checkouts-%d", seed), settings{api: apis[seed%3]}, seed, func(r *round) error {
			return checkoutRound(r, min(left, killsOfCheckouts))
		})
		if err != nil || t.Skipped > skipped {
			return err
		}
	}
	return nil
}

// checkouts is a person's repository, and the pods with checkouts of it.
type checkouts struct {
	*round
	repo string
	// mine are the files of the repository that the person changed and did not commit.
	mine map[string]string
	// place is where the checkouts are.
	place string
	// count numbers the jobs.
	count int
}

// checkoutRound makes a pod with a checkout, lets it work, brings that home, and deletes both, again
// and again.
func checkoutRound(r *round, kills int) error {
	c := &checkouts{
		round: r, repo: filepath.Join(r.dir, "repo"), place: filepath.Join(r.dir, "s", "checkouts"),
		mine: make(map[string]string),
	}
	if err := c.found(); err != nil {
		return err
	}
	if err := r.up(); err != nil {
		return err
	}
	close(r.model.gate) // Release stalled answers.
	for n := 1; r.tally.Kills < kills; n++ {
		if err := c.cycle(n); err != nil || r.tally.Skipped > 0 {
			return err
		}
	}
	r.tally.Requests += len(r.model.server.Requests())
	for _, text := range r.model.illFormed(r.api) {
		r.tally.IllFormed.add("%s", text)
	}
	r.terminate(false)
	return c.sound()
}

// found makes the repository. The person has changed a file, and has one that git does not know.
func (c *checkouts) found() error {
	for name, text := range map[string]string{
		".gitignore": "cache/\n", "notes.txt": "Some notes.\n", "f-1": "one", "f-2": "two", "f-4": "four", "d-0/x": "x", "d-1/x": "x",
	} {
		if err := put(c.repo, name, text); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Person"}, {"config", "user.email", "person@example.com"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		if _, err := c.git(c.repo, args...); err != nil {
			return err
		}
	}
	return c.change("notes.txt", "changed by the person")
}

// put writes a file as an editor does: whole, under its name.
func put(dir, name, text string) error {
	path := filepath.Join(dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path+"~", []byte(text), 0o644), os.Rename(path+"~", path))
}

// git runs the person's git.
func (s *scene) git(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GIT_CONFIG_NOSYSTEM=1"}
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s in %s: %w: %s", strings.Join(args, " "), dir, err, says.String())
	}
	return string(out), err
}

// change gives a file of the repository what the person wrote.
func (c *checkouts) change(name, text string) error {
	c.mine[name] = text
	return put(c.repo, name, text)
}

// cycle is the life of one pod.
func (c *checkouts) cycle(n int) error {
	name := fmt.Sprintf("c-%d", n)
	home := []string{"land", "land", "apply", "stay"}[c.random.IntN(4)]
	// What came from the person would be in the way when it lands there.
	dir, err := c.create(name, home != "land" && c.random.IntN(2) == 0)
	if err != nil || dir == "" {
		return err
	}
	began, err := texts(dir)
	if err != nil {
		return err
	}
	submits := &submitter{pod: name, client: c.client}
	for range 1 + c.random.IntN(3) {
		if err := c.work(submits); err != nil {
			return err
		}
		if err := c.person(); err != nil {
			return err
		}
		switch home {
		case "land":
			err = c.land(name, dir)
		case "apply":
			err = c.apply(name, dir, began)
		}
		if err != nil {
			return err
		}
	}
	return c.remove(name, dir)
}

// ask makes a call until it has an answer, while podd is killed now and then, and looks each time
// whether all is well. sure says that no kill left the outcome open.
func (c *checkouts) ask(dir string, call func(ctx context.Context) error, well func() string) (sure bool, err error) {
	for sure = true; ; sure = false {
		answered := make(chan error, 1)
		c.tasks.Go(func() {
			ctx, cancel := context.WithTimeout(c.ctx, 3*followTime)
			defer cancel()
			answered <- call(ctx)
		})
		if c.random.IntN(2) == 0 {
			c.moment(dir, answered)
			c.kill()
		}
		err := <-answered
		if err := errors.Join(c.up(), c.settle()); err != nil {
			return false, err
		}
		c.must("after a call", well)
		if c.ctx.Err() != nil {
			return false, c.stuck()
		}
		if item.KindOf(err) != item.KindUnavailable && item.ReasonOf(err) != "BUSY" {
			return sure, err
		}
	}
}

// moment waits for a random time, or until git holds a lock for the first, second, ... time, or podd
// has answered.
func (c *checkouts) moment(dir string, answered chan error) {
	wait := time.Duration(c.random.IntN(500)) * time.Millisecond
	if c.random.IntN(4) == 0 {
		pause(c.ctx, wait)
		return
	}
	locks := []string{filepath.Join(c.repo, ".git/index.lock"), filepath.Join(c.repo, ".git/refs/heads/main.lock"), filepath.Join(dir, ".git/index.lock")}
	held, times := false, 1+c.random.IntN(4)
	for times > 0 && len(answered) == 0 && pause(c.ctx, 100*time.Microsecond) {
		now := slices.ContainsFunc(locks, func(path string) bool {
			_, err := os.Lstat(path)
			return err == nil
		})
		if now && !held {
			times--
		}
		held = now
	}
}

// unharmed says what is wrong with the files that the person changed.
func (c *checkouts) unharmed() string {
	for name, want := range c.mine {
		if got, err := os.ReadFile(filepath.Join(c.repo, name)); string(got) != want {
			return fmt.Sprintf("the person's %s is %q, want %q: %v", name, got, want, err)
		}
	}
	return ""
}

// well says what is wrong with the person's repository: the changed files are as the person wrote
// them, no others differ from the branch, and nothing keeps git from working there.
func (c *checkouts) well() string {
	if says := c.unharmed(); says != "" {
		return says
	}
	status, err := c.git(c.repo, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return err.Error()
	}
	var changed []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(status, "\x00"), "\x00") {
		changed = append(changed, entry[min(3, len(entry)):])
	}
	if want := slices.Sorted(maps.Keys(c.mine)); !slices.Equal(slices.Sorted(slices.Values(changed)), want) {
		return fmt.Sprintf("the repository has changes %q, want those of %q", status, want)
	}
	return locked(filepath.Join(c.repo, ".git"))
}

// locked names a lock of git's in a directory. Nobody holds it while podd does nothing.
func locked(dir string) (says string) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			says = "there is the lock " + path
		}
		return nil
	})
	return says
}

// must waits until nothing is wrong: a podd that started ends what was begun.
func (c *checkouts) must(when string, wrong func() string) {
	ctx, cancel := context.WithTimeout(c.ctx, followTime)
	defer cancel()
	says := ""
	if !await(ctx, func() bool { says = wrong(); return says == "" }) && c.ctx.Err() == nil {
		c.tally.Lost.add("%s: %s", when, says)
	}
}

// create makes a pod with a checkout. dir is empty if there can be none here.
func (c *checkouts) create(name string, changes bool) (dir string, err error) {
	request := &poddv1.CreatePodRequest{
		Name: name, Spec: &poddv1.PodSpec{Dir: c.repo}, Worktree: &poddv1.Worktree{WithChanges: changes},
	}
	sure, err := c.ask(filepath.Join(c.place, name, ".making"), func(ctx context.Context) error {
		_, err := c.client.Pods().CreatePod(ctx, request)
		return err
	}, c.well)
	switch reason := item.ReasonOf(err); {
	case reason == "NO_SANDBOX", reason == "NO_GIT":
		c.tally.Skipped++
		return "", nil
	case err != nil && (sure || reason != "POD_EXISTS"):
		c.tally.Other.add("%s cannot be made: %v", name, err)
		return "", c.ctx.Err()
	}
	p := c.state(&pod{name: name})
	for ; p == nil; p = c.state(&pod{name: name}) {
		if !pause(c.ctx, retryPause) {
			return "", c.stuck()
		}
	}
	dir = p.GetSpec().GetDir()
	base, err := c.git(c.repo, "rev-parse", "main")
	if err != nil {
		return "", err
	}
	c.must("after a checkout was made", func() string { return c.pinned(name, strings.TrimSpace(base)) })
	return dir, nil
}

// pinned says what is wrong with the reference of a checkout: it has to keep a commit.
func (c *checkouts) pinned(name, commit string) string {
	if _, err := c.git(c.repo, "merge-base", "--is-ancestor", commit, "refs/podd/"+name); err != nil {
		return err.Error()
	}
	return ""
}

// work lets a pod change files by commands and tools, and commit some, while podd is killed.
func (c *checkouts) work(submits *submitter) error {
	c.count++
	job := fmt.Sprintf("job-%d: edit/%d/0 many write; ", c.count, c.random.IntN(60)) + []string{"commit", "commit; edit/20/0", "write"}[c.random.IntN(3)]
	if !submits.submit(c.ctx, job) {
		return c.stuck()
	}
	for range c.random.IntN(2) {
		pause(c.ctx, time.Duration(c.random.IntN(800))*time.Millisecond)
		c.kill()
		if err := c.up(); err != nil {
			return err
		}
	}
	if err := c.settle(); err != nil {
		return err
	}
	c.must("after a turn", c.well)
	return nil
}

// person works in the repository while nothing else does.
func (c *checkouts) person() error {
	if c.random.IntN(2) == 0 {
		if err := c.change(fmt.Sprintf("mine-%d", c.count), "untracked"); err != nil {
			return err
		}
	}
	if c.random.IntN(2) == 0 {
		return nil
	}
	name := fmt.Sprintf("p-%d", c.count)
	if err := put(c.repo, name, "committed by the person"); err != nil {
		return err
	}
	if _, err := c.git(c.repo, "add", name); err != nil {
		return err
	}
	_, err := c.git(c.repo, "commit", "-q", "-m", "of the person", "--", name)
	return err
}

// writing lets the person write files of the repository, over and over, until end is called. Then
// they have what was written last.
func (c *checkouts) writing(names ...string) (end func() error) {
	ctx, cancel := context.WithCancel(c.ctx)
	wrote := make(chan error, 1)
	last := make(map[string]string)
	c.tasks.Go(func() {
		for n := 0; ; n++ {
			for _, name := range names {
				last[name] = fmt.Sprintf("written %d", n)
				if err := put(c.repo, name, last[name]); err != nil {
					wrote <- err
					return
				}
			}
			if !pause(ctx, 10*time.Millisecond) {
				wrote <- nil
				return
			}
		}
	})
	return func() error {
		cancel()
		err := <-wrote
		for name, want := range last {
			if got, readErr := os.ReadFile(filepath.Join(c.repo, name)); string(got) != want {
				c.tally.Lost.add("the person's %s is %q, want %q: %v", name, got, want, readErr)
			}
		}
		return err
	}
}

// land brings the pod's work into the branch that the person has checked out: whole or not at all.
func (c *checkouts) land(name, dir string) error {
	old, err := c.git(c.repo, "rev-parse", "main")
	if err != nil {
		return err
	}
	_, err = c.ask(dir, func(ctx context.Context) error {
		_, err := c.client.Checkouts().LandCheckout(ctx, &poddv1.LandCheckoutRequest{Pod: name})
		return err
	}, c.well)
	// A kill may have kept the pod from doing anything.
	if err != nil && item.ReasonOf(err) != "NOTHING_TO_LAND" {
		c.tally.Other.add("%s cannot land: %v", name, err)
		return c.ctx.Err()
	}
	c.must("after a landing", func() string {
		if left, err := c.dirty(dir); err != nil || len(left) > 0 {
			return fmt.Sprintf("the checkout still has changes %q: %v", left, err)
		}
		for _, has := range []string{strings.TrimSpace(old), "refs/podd/" + name} {
			if _, err := c.git(c.repo, "merge-base", "--is-ancestor", has, "main"); err != nil {
				return err.Error()
			}
		}
		return c.pinned(name, "main")
	})
	c.must("after a landing", c.well)
	return nil
}

// dirty are the paths of a checkout that are in no commit.
func (c *checkouts) dirty(dir string) (paths []string, err error) {
	out, err := c.git(dir, "status", "--porcelain=v1", "-z", "--ignored=traditional", "--no-renames")
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 {
			paths = append(paths, strings.TrimSuffix(entry[3:], "/"))
		}
	}
	return paths, err
}
