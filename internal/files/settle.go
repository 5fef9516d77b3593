package files

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// saved ends the name of a file that a killed restore took from its place, which has something
// else of somebody's since.
const saved = ".podd-saved"

// settle ends what a killed restore did with a file beside its place: the one that was to get the place,
// or the one that left it. The latter goes back unless the agent left it, or the merge has it.
func (w *Workspace) settle(root *os.Root, a aside) error {
	s, temp, merged := a.Step, a.Name, a.Merged
	if s.Path == "" {
		return gone(root.Remove(temp))
	}
	dir, name, err := way(root, s.Path, false)
	if errors.Is(err, errWay) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	left, data, err := lookIn(dir, temp)
	if errors.Is(err, errNotFile) || err == nil && (!left.Exists() || left.IsDir()) {
		return nil // It is gone. What somebody made there since is not the restore's.
	}
	if err != nil {
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
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENAMETOOLONG) {
		return nil // It stays under the name that it has: the next look finds it there.
	}
	return err
}

// gone makes nothing of an error that says that there is no such file.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
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
