package files

import (
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// Tree names the tree of a files.
func (w *Workspace) Tree(commit string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return "", err
	}
	c, err := w.repo.commit(hashOf(commit))
	return c.tree.String(), err
}

// Born says whether a file system says when a file was made.
func Born(path string) bool { return born(unix.AT_FDCWD, path) != 0 }

// Killed notes what a restore notes before it is killed in a step, or in one that merges to a text. It
// returns the name of the file beside its place.
func (w *Workspace) Killed(s Step, merged string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, all, err := w.newAsides([]Step{s})
	if err != nil {
		return "", err
	}
	if merged != "" {
		all[2].Merged = plumbing.ComputeHash(plumbing.BlobObject, []byte(merged))
		err = a.note(all[2])
	}
	return all[2].Name, errors.Join(err, a.close(false))
}

// Fits is fits.
var Fits = fits
