package checkout

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/internal/workspace/git"
	"podd/pkg/item"
)

// Remote says what a clone is to be of.
type Remote struct {
	// Name is in the names of the branch and the reference, ID is that of the pod.
	Name, ID string
	// URL is that of the source.
	URL string
	// Ref is a branch, a tag, a commit or a reference of it to begin with; empty means its own
	// branch.
	Ref string
	// Dir is where the clone will be; see Place.
	Dir string
}

// bareName is podd's own repository of a clone, from which the checkout borrows. No pod writes there.
const bareName = ".remote"

// Place is a directory for the clone of a pod. n tells those of one pod apart: two nodes never use
// the same.
func (all Clones) Place(w Remote, n int) string {
	id := strings.TrimPrefix(w.ID, item.PodIDPrefix)
	return filepath.Join(git.Resolve(all.Dir), fmt.Sprintf("%s.%s.%d", w.Name, id[:min(len(id), 6)], n), nameOf(w.URL))
}

// nameOf is the last part of a URL, as a file name.
func nameOf(url string) string {
	name := strings.TrimRight(url, "/")
	name = strings.TrimSuffix(name[strings.LastIndexAny(name, "/:")+1:], ".git")
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	if name == "" || strings.HasPrefix(name, ".") || name == recordName {
		return "repository"
	}
	return name
}

// Clones are those checkouts whose source is elsewhere: podd cloned it, and pushes there.
type Clones struct{ *Checkouts }

// Clone clones a repository for a pod and reserves its reference there. Until Keep it goes again when
// podd starts.
func (all Clones) Clone(ctx context.Context, w Remote) (r *Record, err error) {
	return all.clone(ctx, w, false)
}

// Resume clones a repository again, for a pod whose clone is elsewhere, with the files and commits
// that were pushed, and keeps it. After that, a push of an older state fails.
func (all Clones) Resume(ctx context.Context, w Remote) (r *Record, err error) {
	return all.clone(ctx, w, true)
}

func (all Clones) clone(ctx context.Context, w Remote, resumes bool) (r *Record, err error) {
	if err := checkURL(w.URL); err != nil {
		return nil, err
	}
	place := filepath.Dir(w.Dir)
	r = &Record{Name: w.Name, Pod: w.ID, URL: w.URL, Source: w.Dir, Common: filepath.Join(place, bareName), place: place}
	defer all.lock(r)()
	if resumes {
		if old, err := load(place); err == nil && old.Made {
			return old, nil // Another pod of the family was faster.
		} else if err == nil {
			if err := removeAll(place); err != nil {
				return nil, err
			}
		}
	}
	if err := all.begin(r); err != nil {
		return nil, full(err)
	}
	c := &cloner{all, r, w}
	if resumes {
		// Another turn of the family may wait for the lock. It would replace a clone that is not kept yet.
		if err = c.resume(ctx); err == nil {
			err = all.Keep(r)
		}
	} else {
		err = c.start(ctx)
	}
	if err != nil {
		return nil, full(errors.Join(err, all.undo(context.WithoutCancel(ctx), r)))
	}
	return r, nil
}

// cloner makes one clone.
type cloner struct {
	Clones
	r *Record
	w Remote
}

// start makes the clone of a new pod.
func (c *cloner) start(ctx context.Context) error {
	branch, ids, err := c.heads(ctx, c.r, c.r.ref(), "refs/heads/*")
	if err != nil {
		return err
	}
	if id := ids[c.r.ref()]; id != "" {
		return item.Errorf(item.KindExists, "REF_EXISTS",
			"%s already has %s, with the work of an earlier pod: choose another name, begin with it by --ref %[2]s, or remove it with git push %[1]s :%[2]s", c.r.URL, c.r.ref())
	}
	format, err := c.format(ids)
	if err != nil {
		return err
	}
	if err := c.bare(ctx, format); err != nil {
		return err
	}
	specs := []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}
	if strings.HasPrefix(c.w.Ref, "refs/") && !strings.ContainsAny(c.w.Ref, ":*^") {
		specs = append(specs, "+"+c.w.Ref+":"+c.w.Ref)
	}
	if err := c.bring(ctx, specs...); err != nil {
		return err
	}
	from := cmp.Or(c.w.Ref, branch)
	if from == "" {
		return item.Errorf(item.KindInvalid, "UNKNOWN_REF", "the default branch of %s has no commit: name another one with --ref", c.r.URL)
	}
	if c.r.Base, err = line(c.git(ctx, c.own("rev-parse", "--quiet", "--verify", "--end-of-options", from+"^{commit}"))); err != nil {
		if item.ReasonOf(err) != "" || ctx.Err() != nil {
			return err
		}
		return item.Errorf(item.KindInvalid, "UNKNOWN_REF", "%q names no commit of %s: git ls-remote %[2]s lists its branches and tags", from, c.r.URL)
	}
	if err := c.fill(ctx, format, &state{Head: "refs/heads/" + c.r.Branch(), files: c.r.Base, commit: c.r.Base}); err != nil {
		return err
	}
	// A repository that podd cannot push to is refused now, not after the first turn.
	c.r.Ref = c.r.Base
	if err := c.put(ctx, c.r.Ref, ""); err != nil {
		return item.Errorf(item.KindPrecondition, "CANNOT_PUSH", "podd can't push to %s (%v): it keeps the pod's work there as %s", c.r.URL, err, c.r.ref())
	}
	c.r.Pushed = c.r.Ref
	return c.r.save()
}

// format is that of the names of objects.
func (c *cloner) format(ids map[string]string) (string, error) {
	for _, id := range ids {
		if len(id) > len("0123456789012345678901234567890123456789") {
			return "sha256", nil
		}
		return "sha1", nil
	}
	return "", item.Errorf(item.KindPrecondition, "NO_COMMITS", "the repository %s has no commit yet: push the first one", c.r.URL)
}

// own is a run of git that reads podd's repository.
func (c *cloner) own(args ...string) command {
	return command{dir: c.r.Common, args: append([]string{"--git-dir=."}, args...)}
}

// bare makes podd's repository.
func (c *cloner) bare(ctx context.Context, format string) error {
	if err := os.Mkdir(c.r.Common, 0o700); err != nil {
		return err
	}
	_, err := c.git(ctx, command{dir: c.r.Common, writes: true, args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + format, "."}})
	return err
}

// bring brings references of the source into podd's repository.
func (c *cloner) bring(ctx context.Context, specs ...string) error {
	_, err := c.online(ctx, c.r, slowFetch, append([]string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", c.r.URL}, specs...)...)
	if failed, ok := errors.AsType[*failure](err); ok && strings.Contains(failed.says, "couldn't find remote ref") {
		return item.Errorf(item.KindInvalid, "UNKNOWN_REF", "%s has no %s: git ls-remote %[1]s lists what it has", c.r.URL, c.w.Ref)
	}
	return unreachable(c.r, err)
}

// putRef changes the reference in the source from the commit old to id. An empty old means that the reference does not exist
// yet, and an empty id deletes it.
func (all Clones) putRef(ctx context.Context, r *Record, id, old string) error {
	_, err := all.online(ctx, r, slowServer, "push", "--quiet", "--no-verify", "--no-signed", "--force-with-lease="+r.ref()+":"+old, r.URL, id+":"+r.ref())
	return err
}

func (c *cloner) put(ctx context.Context, id, old string) error { return c.putRef(ctx, c.r, id, old) }

// releaseWithin bounds how long a clone that goes again waits for its source.
const releaseWithin = 10 * time.Second

// release removes the reference that a clone reserved for a pod that was never made.
func (all Clones) release(ctx context.Context, r *Record) error {
	if r.Pushed == "" || r.Claim != "" || r.Made {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	return all.putRef(ctx, r, "", r.Pushed)
}

// unpin removes the reference in the source if a branch or a tag there has its commits. It stays if
// the source does not answer soon.
func (all Clones) unpin(ctx context.Context, r *Record) error {
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	c := &cloner{all, r, Remote{}}
	err := c.bring(ctx, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	if err == nil {
		only := c.own("rev-list", "-n", "1", r.Pushed, "--not", "--branches", "--tags")
		var out string
		if out, err = c.git(ctx, only); err == nil && out != "" {
			return nil
		}
	}
	if err == nil {
		err = c.put(ctx, "", r.Pushed)
	}
	if err != nil {
		all.Logger.Warn("the reference of a removed clone stays", "reference", r.ref(), "source", r.URL, "error", err)
		return nil
	}
	r.Unpinned = true
	return r.save()
}

// fill makes the checkout.
func (c *cloner) fill(ctx context.Context, format string, s *state) error {
	user, err := c.userSettings(ctx, c.own())
	if err != nil {
		return err
	}
	from := source{top: c.r.URL, common: c.r.Common, format: format, user: user}
	making, run, err := c.repository(ctx, from, c.r, "../../../"+bareName+"/objects")
	if err != nil {
		return err
	}
	on := s.Head
	if !strings.HasPrefix(on, "refs/heads/") {
		on = "refs/heads/" + c.r.Branch()
	}
	steps := [][]string{{"symbolic-ref", "HEAD", on}, {"update-ref", on, s.files}, {"reset", "--quiet", "--hard"}}
	if s.commit != s.files {
		steps = append(steps, []string{"reset", "--quiet", s.commit})
	}
	for _, ref := range s.Refs {
		if name, id, _ := strings.Cut(ref, " "); name != on {
			steps = append(steps, []string{"update-ref", "--create-reflog", "-m", "podd: of the earlier clone", name, id})
		}
	}
	if on != s.Head {
		steps = append(steps, []string{"checkout", "--quiet", "--detach"}, []string{"update-ref", "-d", on})
		if i := slices.IndexFunc(s.Refs, func(ref string) bool { return strings.HasPrefix(ref, on+" ") }); i >= 0 {
			steps = append(steps, []string{"update-ref", on, s.Refs[i][len(on)+1:]})
		}
	}
	for _, args := range steps {
		if err := run(args...); err != nil {
			return err
		}
	}
	if _, err := c.git(ctx, c.r.changing("update-ref", c.r.ref(), s.files)); err != nil {
		return err
	}
	return whole(making, c.r)
}

// mostClaims bounds how often a push of another node may come first.
const mostClaims = 8

// resume makes a clone with what was pushed. It claims the reference first: a push that another node
// began comes before, and counts, or is refused.
func (c *cloner) resume(ctx context.Context) error {
	for range mostClaims {
		format, pushed, err := c.found(ctx)
		if err != nil {
			return err
		}
		s, err := c.read(ctx, pushed)
		if err != nil {
			return err
		}
		claim, err := c.claim(ctx, s)
		if err != nil {
			return err
		}
		if err := c.put(ctx, claim, pushed); err != nil {
			if _, ids, e := c.heads(ctx, c.r, c.r.ref()); e != nil || ids[c.r.ref()] == pushed {
				return item.Errorf(item.KindPrecondition, "CANNOT_PUSH", "podd can't push to %s (%v): it keeps the pod's work there as %s", c.r.URL, err, c.r.ref())
			}
			continue
		}
		c.r.Base, c.r.Ref, c.r.Pushed, c.r.Claim = pushed, claim, claim, claim
		if err := c.r.save(); err != nil {
			return err
		}
		return c.fill(ctx, format, s)
	}
	return item.Errorf(item.KindUnavailable, "REF_MOVED", "somebody keeps moving %s of %s: podd tries again", c.r.ref(), c.r.URL)
}

// found brings what was pushed, and returns the commit.
func (c *cloner) found(ctx context.Context) (format, pushed string, err error) {
	_, ids, err := c.heads(ctx, c.r, c.r.ref())
	if err != nil {
		return "", "", err
	}
	if format, err = c.format(ids); err != nil {
		return "", "", err
	}
	if _, err := os.Lstat(c.r.Common); err != nil {
		if err := c.bare(ctx, format); err != nil {
			return "", "", err
		}
	}
	if pushed = ids[c.r.ref()]; pushed == "" {
		return "", "", item.Errorf(item.KindPrecondition, "REF_GONE", "%s has no %s any more, with which pod %s would go on: push that commit again, or give the pod a directory with podctl move --dir", c.r.URL, c.r.ref(), c.r.Name)
	}
	return format, pushed, c.bring(ctx, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+"+c.r.ref()+":"+c.r.ref())
}

// claim is a commit with the same files that no other node has.
func (c *cloner) claim(ctx context.Context, s *state) (string, error) {
	run := c.r.changing("commit-tree", s.files+"^{tree}")
	for _, p := range s.parents {
		run.args = append(run.args, "-p", p)
	}
	run.args = append(run.args, "-m", s.message(c.r)+"Podd-Claim: "+rand.Text())
	run.env = poddsName
	return line(c.git(ctx, run))
}
