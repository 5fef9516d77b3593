package checkout

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// Left is what a removal of a checkout would lose.
type Left struct {
	// What is "uncommitted", "untracked", "left out" (git ignores it), "repository" or "commit".
	What string
	// Name is a path in the checkout, a directory with a slash at its end; or the name of a commit
	// and its subject.
	Name string
}

// statusScript lists what differs from the last commit. The index is one of its own: the
// checkout's can say of files that they never change.
const statusScript = `set -e
GIT_INDEX_FILE="${TMPDIR:-/tmp}/index"; export GIT_INDEX_FILE
git read-tree "$1"
git status --porcelain=v1 -z --untracked-files=normal --ignored=traditional --no-renames --ignore-submodules=none`

// Left lists what is in a checkout and nowhere else. drop are paths in it that may go.
func (all *Checkouts) Left(ctx context.Context, r *Record, drop []string) ([]Left, error) {
	defer all.lock(r)()
	return all.left(ctx, r, drop)
}

func (all *Checkouts) left(ctx context.Context, r *Record, drop []string) (left []Left, err error) {
	files, err := all.leftFiles(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, l := range files {
		if !slices.ContainsFunc(drop, func(dir string) bool { return below(dir, l.Name) }) {
			left = append(left, l)
		}
	}
	commits, err := all.leftCommits(ctx, r)
	return append(left, commits...), err
}

// below says whether a path of a list is a directory or in it.
func below(dir, name string) bool {
	name = strings.TrimSuffix(name, "/")
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// Dropped are clean paths relative to a checkout.
func Dropped(paths []string) ([]string, error) {
	var clean []string
	for _, p := range paths {
		p = path.Clean(filepath.ToSlash(p))
		if !filepath.IsLocal(p) || p == "." || p == ".git" || strings.HasPrefix(p, ".git/") {
			return nil, item.Errorf(item.KindInvalid, "BAD_DROP", "--drop %q is no path below the checkout: name a file or directory in it, such as node_modules", p)
		}
		clean = append(clean, p)
	}
	return clean, nil
}

func (all *Checkouts) leftFiles(ctx context.Context, r *Record) (left []Left, err error) {
	add := func(what, name string) {
		if !slices.ContainsFunc(left, func(l Left) bool { return l.Name == name }) {
			left = append(left, Left{what, name})
		}
	}
	head := "HEAD"
	if _, err := all.git(ctx, r.reading("rev-parse", "--quiet", "--verify", "HEAD^{commit}")); err != nil {
		head = r.Base // Its branch has no commit.
	}
	c := r.reading(head)
	c.script = statusScript
	out, err := all.git(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, entry := range fields(out) {
		if len(entry) < 4 {
			continue
		}
		switch state, name := entry[:2], entry[3:]; state {
		case "??":
			add("untracked", name)
		case "!!":
			add("left out", name)
		default:
			add("uncommitted", name)
		}
	}
	// What is staged and in no file.
	staged, err := all.git(ctx, r.reading("diff", "--cached", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=none", head))
	if err != nil {
		return nil, err
	}
	for _, name := range fields(staged) {
		add("uncommitted", name)
	}
	// Repositories in it have commits of their own.
	found := git.Find(r.Dir(), nil)
	for _, top := range slices.Concat(found.Tops, found.Filled) {
		if rel, err := filepath.Rel(r.Dir(), top); err == nil && rel != "." {
			left = slices.DeleteFunc(left, func(l Left) bool { return l.Name == rel+"/" || l.Name == rel })
			add("repository", rel+"/")
		}
	}
	for _, dir := range git.Below(filepath.Join(r.Dir(), ".git")) {
		if rel, err := filepath.Rel(r.Dir(), dir); err == nil {
			add("repository", rel+"/")
		}
	}
	return left, nil
}

// mostCommits bounds how many commits are named.
const mostCommits = 50

// leftCommits are the commits of the checkout that no reference of the source has.
func (all *Checkouts) leftCommits(ctx context.Context, r *Record) (left []Left, err error) {
	has, err := all.refs(ctx, command{dir: r.Common, reads: r.Reads()})
	if err != nil {
		return nil, err
	}
	tips, err := all.refs(ctx, r.reading())
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"rev-parse", "--quiet", "--verify", "HEAD^{commit}"}, {"reflog", "show", "--format=%H", "refs/stash"}} {
		// Either may be missing.
		more, _ := all.git(ctx, r.reading(args...))
		tips = append(tips, strings.Fields(more)...)
	}
	if len(tips) == 0 {
		return nil, nil
	}
	c := r.reading("log", "--stdin", "--format=%h %s", "-n", strconv.Itoa(mostCommits))
	c.stdin = strings.NewReader(strings.Join(tips, "\n") + "\n^" + strings.Join(append(has, r.Base), "\n^") + "\n")
	out, err := all.git(ctx, c)
	for l := range strings.Lines(out) {
		left = append(left, Left{"commit", strings.TrimSuffix(l, "\n")})
	}
	return left, err
}

// Remove moves a checkout to the trash, if nothing is left in it. It returns what is.
func (all *Checkouts) Remove(ctx context.Context, r *Record, drop []string) ([]Left, error) {
	defer all.lock(r)()
	r, err := load(r.place)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(r.Dir()); err == nil {
		if left, err := all.left(ctx, r, drop); err != nil || len(left) > 0 {
			return left, err
		}
	}
	r.Removed, r.Drop = all.Now().UTC(), drop
	if err := r.save(); err != nil {
		return nil, full(err)
	}
	return nil, all.discard(ctx, r)
}

// discard moves a checkout to the trash.
func (all *Checkouts) discard(ctx context.Context, r *Record) error {
	if err := os.MkdirAll(all.trash(), 0o700); err != nil {
		return full(err)
	}
	to := filepath.Join(git.Resolve(all.trash()), filepath.Base(r.place)+"-"+r.Pod)
	if err := os.Rename(r.place, to); err != nil {
		return err
	}
	r.place = to
	return all.unpin(ctx, r)
}

// Purge removes a checkout for good, also one in the trash, if nothing is left in it. It returns what
// is. It writes nothing, so that it frees a full disk. Killed, it leaves the rest to Sweep.
func (all *Checkouts) Purge(ctx context.Context, r *Record, drop []string) ([]Left, error) {
	defer all.lock(r)()
	r, err := load(r.place)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(r.Dir()); err == nil {
		if left, err := all.left(ctx, r, append(r.Drop, drop...)); err != nil || len(left) > 0 {
			return left, err
		}
	}
	if filepath.Dir(r.place) != git.Resolve(all.trash()) {
		if err := all.discard(ctx, r); err != nil {
			return nil, err
		}
	}
	return nil, r.destroy()
}

// destroy removes a checkout in the trash, and its record last.
func (r *Record) destroy() error {
	going := filepath.Join(r.place, ".going")
	if err := os.Rename(r.Dir(), going); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return cmp.Or(removeAll(going), removeAll(r.place))
}

// unpin removes the reference in the source if a branch or a tag has its commits.
func (all *Checkouts) unpin(ctx context.Context, r *Record) error {
	now, err := all.pinned(ctx, r)
	if err != nil || now == "" || now != r.Ref {
		return err
	}
	only := r.changing("rev-list", "-n", "1", now, "--not", "--branches", "--tags", "--remotes")
	only.writes = false
	if out, err := all.git(ctx, only); err != nil || out != "" {
		return err
	}
	_, err = all.git(ctx, r.changing("update-ref", "-d", r.ref(), now))
	return err
}

// Trashed is the checkout in the trash of a pod, by its id or the name that it had; nil without one.
func (all *Checkouts) Trashed(idOrName string) (*Record, error) {
	records, err := all.records(git.Resolve(all.trash()))
	var named []*Record
	for _, r := range records {
		if r.Pod == idOrName {
			return r, err
		}
		if r.Name == idOrName {
			named = append(named, r)
		}
	}
	if len(named) > 1 {
		ids := make([]string, len(named))
		for i, r := range named {
			ids[i] = r.Pod
		}
		return nil, item.Errorf(item.KindPrecondition, "AMBIGUOUS", "the trash has checkouts of several pods %s: name one by its id: %s", idOrName, strings.Join(ids, ", "))
	}
	if len(named) == 0 {
		return nil, err
	}
	return named[0], err
}

// Return brings a checkout back from the trash.
func (all *Checkouts) Return(ctx context.Context, r *Record) error {
	defer all.lock(r)()
	to := filepath.Join(git.Resolve(all.Dir), strings.TrimSuffix(filepath.Base(r.place), "-"+r.Pod))
	if _, err := os.Lstat(to); err == nil {
		return item.Errorf(item.KindExists, "CHECKOUT_EXISTS", "another checkout has the place of this one, %s: remove it with podctl delete --checkout first", to)
	}
	if now, err := all.pinned(ctx, r); err == nil && now == "" && r.Ref != "" {
		if _, err := all.git(ctx, r.changing("update-ref", "-m", "podd: checkout of pod "+r.Name, r.ref(), r.Ref, strings.Repeat("0", len(r.Ref)))); err != nil {
			return err
		}
	}
	if err := os.Rename(r.place, to); err != nil {
		return err
	}
	r.place = to
	r.Removed, r.Drop = time.Time{}, nil
	return full(r.save())
}
