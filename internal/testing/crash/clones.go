package crash

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	poddv1 "podd/proto/podd/v1"
)

// clonePods is how many pods of a round work in clones. cloneNote begins the note that they have another
// one.
const (
	clonePods = 2
	cloneNote = "This pod goes on in a new clone"
)

// remote is the repository that nodes clone and push to. Its pushes are in a file, a line each: the
// node, the new commit and the reference.
type remote struct{ repo, pushes string }

// inClone lets a pod work in a clone of a repository, which has the files of the first such pod.
func (f *fleet) inClone(p *pod) (err error) {
	if f.remote == nil {
		f.remote, err = newRemote(f, p.dir)
	}
	p.remote = f.remote
	return err
}

// newRemote makes a repository of the files in a directory.
func newRemote(f *fleet, dir string) (*remote, error) {
	r := &remote{filepath.Join(f.dir, "remote.git"), filepath.Join(f.dir, "pushes")}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "-m", "first"},
		{"clone", "-q", "--bare", ".", r.repo},
	} {
		if _, err := f.git(dir, args...); err != nil {
			return nil, err
		}
	}
	// The reference is locked, so the lines have the order of the pushes. HOME is the node's.
	hook := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\nwhile read -r old new ref; do echo \"${HOME##*/} $new $ref\" >>%s; done\n", r.pushes)
	path := filepath.Join(r.repo, "hooks", "reference-transaction")
	return r, os.WriteFile(path, []byte(hook), 0o700) //nolint:gosec // git runs it.
}

// clones are the directories that a pod in a clone has worked in, one for each time that a node took
// it. One is gone once all in it is pushed.
func (p *pod) clones() ([]string, error) {
	return filepath.Glob(filepath.Join(filepath.Dir(p.dir), "n*", "checkouts", p.name+".*", "remote"))
}

// lines counts how often commands wrote a line to a file of a pod's workspace. In clones a line has
// when it was written, because each has also what was pushed before.
func (i *inspection) lines(p *pod, file string) (map[string]int, error) {
	if p.remote == nil {
		return countLines(filepath.Join(p.dir, file))
	}
	dirs, err := p.clones()
	if err != nil {
		return nil, err
	}
	all := make(map[string]int)
	for _, dir := range dirs {
		lines, err := countLines(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		maps.Copy(all, lines)
	}
	pushed, err := i.pushed(p, file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(pushed) {
		all[strings.TrimSpace(line)] = 1
	}
	ids := make(map[string]int)
	for line := range all {
		id, _, _ := strings.Cut(line, " ")
		ids[id]++
	}
	return ids, nil
}

// pushed is a file of a pod as it was pushed, empty without it.
func (i *inspection) pushed(p *pod, file string) (string, error) {
	names, err := i.git(p.remote.repo, "ls-tree", "--name-only", "refs/podd/"+p.name, file)
	if err != nil || names == "" {
		return "", err
	}
	return i.git(p.remote.repo, "show", "refs/podd/"+p.name+":"+file)
}

// worksIn says whether a pod works in the workspace of another one.
func (k kin) worksIn(p *pod) bool {
	if p.remote != nil {
		return k.pushes(p) || k.forkIn(p)
	}
	return k.GetSpec().GetDir() == p.dir
}

// pushes says whether what a pod does is pushed as the work of another one.
func (k kin) pushes(p *pod) bool { return k.GetSpec().GetCheckout().GetBranch() == "podd/"+p.name }

// checkClones compares the repository that nodes push to with the logs of the pods in clones.
func (i *inspection) checkClones(all []kin) error {
	for _, p := range i.all() {
		if p.remote == nil || p.isFork {
			continue
		}
		has, err := i.written(p)
		if err != nil {
			return err
		}
		for _, k := range all {
			if k.pushes(p) {
				i.kept(p, k, has)
			}
			if k.forkIn(p) {
				if err := i.ofItsPoint(k); err != nil {
					return err
				}
			}
		}
		if err := i.owners(p); err != nil {
			return err
		}
	}
	return nil
}

// written are the calls of a pod that wrote what is pushed.
func (i *inspection) written(p *pod) (map[string]bool, error) {
	ran, err := i.pushed(p, ranFile)
	if err != nil {
		return nil, err
	}
	names, err := i.git(p.remote.repo, "ls-tree", "--name-only", "refs/podd/"+p.name)
	has := make(map[string]bool)
	for line := range strings.Lines(ran) {
		has[strings.Fields(line)[0]] = true
	}
	for name := range strings.Lines(names) {
		has[strings.TrimPrefix(strings.TrimSpace(name), "made-")] = true
	}
	return has, err
}

// kept checks that what a finished turn did is pushed.
func (i *inspection) kept(p *pod, k kin, has map[string]bool) {
	for id, s := range k.calls {
		call := i.model.made(id)
		if !s.wrote(id, call) || s.seq <= k.from || k.ends[s.turn].GetTurnEnded().GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED || k.mayLack(s) {
			continue
		}
		i.tally.Pushed++
		if !has[id] {
			i.tally.Lost.add("%s: the call %s of the finished turn %d is not in refs/podd/%s", k.pod, id, s.turn, p.name)
		}
	}
}

// wrote says whether a call ended after it had written a file.
func (s *callState) wrote(id string, call madeCall) bool {
	return call.verb == "write" && s.result != nil && !s.result.GetIsError() || call.runs() && s.result.GetContent() == "out-"+id+"\n"
}

// leavePatience is how long a turn that ends waits for its push.
const leavePatience = 5 * time.Second

// mayLack says whether what a call did may not be pushed: another node went on with the turn in a new
// clone, an alert tells that podd could not save the files beside another command, or the turn did not wait
// longer for its push.
func (c *checker) mayLack(s *callState) bool {
	end := c.ends[s.turn]
	for _, e := range c.log[s.seq:end.GetSeq()] {
		if strings.HasPrefix(e.GetNote().GetText(), cloneNote) || e.GetAlert().GetSource() == "checkout" {
			return true
		}
	}
	// What podd stores together has the same time.
	before := end.GetSeq() - 1
	for before > s.seq && c.log[before-1].GetTime().AsTime().Equal(end.GetTime().AsTime()) {
		before--
	}
	return end.GetTime().AsTime().Sub(c.log[before-1].GetTime().AsTime()) >= leavePatience
}

// owners checks that no node pushed over what another one had claimed.
func (i *inspection) owners(p *pod) error {
	data, err := os.ReadFile(p.remote.pushes)
	if err != nil {
		return err
	}
	owner := ""
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "refs/podd/"+p.name {
			continue
		}
		node, commit := f[0], f[1]
		text, err := i.git(p.remote.repo, "show", "--no-patch", "--format=%B", commit)
		if err != nil {
			return err
		}
		claims := strings.Contains(text, "\nPodd-Claim: ")
		if claims {
			i.tally.Claims++
		} else if owner != "" && node != owner {
			i.tally.Other.add("%s: %s pushed %s over what %s had claimed", p.name, node, commit, owner)
		}
		owner = node
	}
	return nil
}

// check lets git check the repository.
func (r *remote) check(f *fleet) {
	out, err := f.git(r.repo, "fsck", "--strict", "--full", "--no-dangling")
	if err != nil || strings.Contains(out, "error") {
		f.finding("git fsck of %s: %v: %s", r.repo, err, out)
	}
	refs, err := f.git(r.repo, "for-each-ref", "--format=%(refname)")
	want := []string{"refs/heads/main"}
	for _, p := range f.all() {
		if p.remote == r && !p.isFork {
			want = append(want, "refs/podd/"+p.name)
		}
	}
	if got := strings.Fields(refs); err != nil || !slices.Equal(got, want) {
		f.finding("the repository has the references %q, want %q: %v", got, want, err)
	}
}
