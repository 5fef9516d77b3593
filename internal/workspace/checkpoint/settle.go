package checkpoint

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// saved ends the name of a file that a killed restore took from its place, which has something
// else of somebody's since.
const saved = ".podd-saved"

// settle ends what a killed restore began with a path.
func (w *Workspace) settle(dir *os.Root, name string, s Step) error {
	if err := w.settleOne(dir, name, aside(name, plumbing.ZeroHash), plumbing.ZeroHash, s); err != nil || !s.Merge {
		return err
	}
	self, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	names, err := self.Readdirnames(-1)
	if err != nil {
		return err
	}
	begin := aside(name, plumbing.ZeroHash) + "-"
	for _, temp := range names {
		if id, ok := strings.CutPrefix(temp, begin); ok {
			if err := w.settleOne(dir, name, temp, hashOf(id), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleOne ends it for a file aside: the one that was to get the place, or the one that left it.
// The latter goes back unless the agent left it, or the merge has it.
func (w *Workspace) settleOne(dir *os.Root, name, temp string, merged plumbing.Hash, s Step) error {
	left, data, err := lookIn(dir, temp)
	if err != nil || !left.Exists() {
		return err
	}
	now, text, err := lookIn(dir, name)
	if err != nil && !errors.Is(err, errNotFile) {
		return err
	}
	var placed, known bool
	if merged.IsZero() {
		placed, known, err = w.repo.settledPlain(s, left, now, data)
	} else {
		placed, known, err = w.repo.settledMerge(s, left, now, data, text, merged)
	}
	if err != nil {
		return err
	}
	switch {
	case known && !now.Exists() && s.Want.IsDir():
		// The directory was to be made next.
		return at(dir, func(fd int) error { return moveTo(fd, temp, name) })
	case known:
		return dir.Remove(temp)
	case placed:
		return at(dir, func(fd int) error { return cmp.Or(swap(fd, temp, name), unix.Unlinkat(fd, temp, 0)) })
	case !now.Exists():
		return at(dir, func(fd int) error { return moveTo(fd, temp, name) })
	}
	err = at(dir, func(fd int) error { return moveTo(fd, temp, name+saved) })
	if errors.Is(err, fs.ErrExist) {
		return nil // It stays aside.
	}
	return err
}

// settledPlain says whether the path has what is wanted, and whether the file aside is podd's or
// the agent's.
func (r *repo) settledPlain(s Step, left, now File, data []byte) (placed, known bool, err error) {
	placed = now == s.Want && s.Want.Exists()
	switch {
	case placed || left == s.Left || left == s.Want:
		return placed, left == s.Left || !placed, nil
	case !s.Want.Exists() || s.Want.IsDir():
		return false, false, nil
	}
	// It may not have been written to its end.
	want, err := r.read(s.Want.Hash)
	return false, bytes.HasPrefix(want, data), err
}

// settledMerge is settledPlain for a merge.
func (r *repo) settledMerge(s Step, left, now File, data, text []byte, merged plumbing.Hash) (placed, known bool, err error) {
	placed = now.Hash == merged
	if left.Hash == merged {
		return placed, true, nil
	}
	m, err := r.merge(s, left, data)
	if err == nil && !placed && (!m.ok || m.Hash != merged) {
		// It may not have been written to its end.
		m, err = r.merge(s, now, text)
	}
	return placed, m.ok && m.Hash == merged, err
}
