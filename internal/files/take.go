package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"

	"podd/pkg/item"
)

// ErrReplaced says that tools work in a directory whose path leads to another one by now: podd cannot say
// who changed what there.
var ErrReplaced = errors.New("it was moved or replaced while a turn worked in it: what the turn changes goes to the earlier directory, which podd does not look at")

// partly ends the name of a directory of which a checkpoint has only the files that tools named.
const partly = " partly"

func (w *Workspace) take(ctx context.Context, l Look) (taken []item.Checkpoint, err error) {
	at, err := w.stands(l.Held)
	if err != nil {
		return nil, err
	}
	last, still, err := w.last(l, at)
	if err != nil || still {
		return nil, err
	}
	p := &packer{repo: w.repo}
	defer p.drop()
	seen, err := w.look(ctx, p, last.root, last.covers, l.Named)
	if err != nil {
		return nil, err
	}
	if seen.at, err = w.stands(l.Held); err != nil || seen.at != at {
		return nil, cmp.Or(err, ErrReplaced)
	}
	if seen.partial {
		seen.at += partly
	}
	other := last.at != "" && last.at != seen.at
	if other && !l.Restored {
		// The agent made the earlier directory what it is, not this one; or the last checkpoint had a part of the files.
		l.Agent, l.Paths = false, nil
	}
	also := compare(last.covers, seen.covers)
	if last.root != nil && last.root.Hash == seen.root.Hash && len(also.fresh) == 0 && !other {
		return nil, w.unchanged(p, seen, last.commit, l.Branch)
	}
	steps, err := w.sides(last.root, seen.root, l, also)
	if err != nil {
		return nil, err
	}
	after, covers := last.commit, last.covers
	for i, s := range steps {
		if i == len(steps)-1 {
			covers = seen.covers
		}
		c := commit{parent: after, author: string(s.by), branch: l.Branch, at: w.all.Now(), message: l.Message, covers: covers, place: seen.at}
		if after, err = p.commit(s.root, c); err != nil {
			return nil, err
		}
		taken = append(taken, item.Checkpoint{
			Dir: w.dir, Commit: after.String(), Parent: l.After, By: s.by, Node: w.all.Node,
			Changed: int64(s.changed), LeftOut: int64(seen.leftOut), Partial: seen.partial,
		})
		l.After = after.String()
	}
	if err := w.repo.store(ctx, p, l.Branch, after); err != nil {
		return nil, err
	}
	return taken, w.found(seen, after, l.Branch)
}

// unchanged keeps what a look found without a change. What a lost pack had of it is written again.
func (w *Workspace) unchanged(p *packer, s seen, commit plumbing.Hash, pod string) error {
	if err := p.write(s.root); err != nil {
		return err
	}
	if err := p.finish(); err != nil {
		return err
	}
	return w.found(s, commit, pod)
}

// last is the checkpoint to which a look compares the directory, which is at; still says that nothing
// can have changed since.
func (w *Workspace) last(l Look, at string) (last tip, still bool, err error) {
	after, last := hashOf(l.After), w.tips[l.Branch]
	if after.IsZero() || after != last.commit {
		last, err = w.repo.tip(l.After)
		return last, false, err
	}
	return last, len(last.covers)+len(l.Named) == 0 && last.at == at && w.still(l.Branch), nil
}

// tip reads a checkpoint; the zero tip for none.
func (r *repo) tip(id string) (t tip, err error) {
	if id == "" {
		return t, nil
	}
	if err := unknown(r, id); err != nil {
		return t, err
	}
	c, err := r.commit(hashOf(id))
	return tip{hashOf(id), c.root(), c.covers, c.place}, err
}

// stands tells the directory that has the path now from others: the checkpoints name it. It refuses
// another one than held.
func (w *Workspace) stands(held os.FileInfo) (place string, err error) {
	info, err := os.Stat(w.dir)
	if err != nil {
		return "", err
	}
	if held != nil && !os.SameFile(held, info) {
		return "", ErrReplaced
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", nil
	}
	// The number of a device may change with a reboot.
	return fmt.Sprint(st.Ino, " ", born(unix.AT_FDCWD, w.dir)), nil
}

// still says that nothing happened in the directory since the last look, which was for the pod.
func (w *Workspace) still(pod string) bool {
	info, err := os.Stat(w.dir)
	if err != nil || w.held == nil || w.by != pod || !os.SameFile(w.held, info) {
		return false
	}
	if !w.watch.quiet() {
		w.held = nil
	}
	return w.held != nil && w.tracked.still()
}

// side is a checkpoint to be written.
type side struct {
	root    *node
	by      item.CheckpointBy
	changed int
}

// sides are the checkpoints of the changes that led to root.
func (w *Workspace) sides(before, root *node, l Look, also coverage) ([]side, error) {
	changes, err := w.repo.between(before, root)
	if err != nil {
		return nil, err
	}
	var mine, others []change
	left := w.leftBy(l.Branch)
	came := left.arrivals(w.dir)
	for _, c := range changes {
		// What was left out until now was there before.
		was := also.changed(c) || !c.Old.Exists() && !also.looked(c.Path) && (left.has(c.Path) || came.has(c.Path))
		if !was && (l.Agent || w.named(l.Paths, c.Path)) {
			mine = append(mine, c)
		} else {
			others = append(others, c)
		}
	}
	who := item.ByAgent
	if l.Restored {
		who = item.ByRestore
	}
	switch {
	case len(mine) == 0:
		return []side{{root, item.ByPerson, len(others)}}, nil
	case len(others) == 0:
		return []side{{root, who, len(mine)}}, nil
	}
	first, err := w.repo.without(root, others)
	return []side{{first, who, len(mine)}, {root, item.ByPerson, len(others)}}, err
}
