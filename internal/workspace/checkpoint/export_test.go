package checkpoint

import (
	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// Tree names the tree of a checkpoint.
func (w *Workspace) Tree(commit string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return "", err
	}
	root, err := w.repo.root(hashOf(commit))
	if err != nil {
		return "", err
	}
	return root.Hash.String(), nil
}

// Born says whether a file system says when a file was made.
func Born(path string) bool { return born(unix.AT_FDCWD, path) != 0 }

// Aside is the name of a file during a restore, or during one that merges to a text.
func Aside(name, merged string) string {
	if merged == "" {
		return aside(name, plumbing.ZeroHash)
	}
	return aside(name, plumbing.ComputeHash(plumbing.BlobObject, []byte(merged)))
}
