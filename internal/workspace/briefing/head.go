package briefing

import (
	"bufio"
	"bytes"
	"path/filepath"
	"strings"

	"podd/pkg/scopefs"
)

// Bounds of what is read of a repository, in bytes, of what is shown of a branch, and of
// how many references lead to one another.
const (
	maxRef    = 4 << 10
	maxPacked = 16 << 20
	maxBranch = 100
	maxSteps  = 5
)

// Head is a repository's current commit. It is empty if there is no repository, or if it
// is outside of the pod's files.
type Head struct {
	// Branch is empty when HEAD names a commit.
	Branch string
	// Commit is the hash; empty before the first commit, and if it can't be read.
	Commit string
}

// HeadOf reads the current commit of a workspace's repository, through the workspace's
// files. It follows the .git file of a linked worktree as far as these reach.
func HeadOf(fs *scopefs.FS) Head {
	for dir := fs.Dir(); ; dir = filepath.Dir(dir) {
		info, err := fs.Stat(filepath.Join(dir, ".git"))
		switch {
		case err == nil && info.IsDir():
			return head(fs, filepath.Join(dir, ".git"))
		case err == nil:
			target, ok := strings.CutPrefix(line(fs, filepath.Join(dir, ".git")), "gitdir: ")
			if !ok {
				return Head{}
			}
			return head(fs, beside(dir, target))
		case dir == filepath.Dir(dir):
			return Head{}
		}
		if _, err := fs.Stat(filepath.Dir(dir)); err != nil {
			return Head{}
		}
	}
}

// head is that of a git directory.
func head(fs *scopefs.FS, git string) (h Head) {
	common := git
	if dir := line(fs, filepath.Join(git, "commondir")); dir != "" {
		common = beside(git, dir)
	}
	at := line(fs, filepath.Join(git, "HEAD"))
	for range maxSteps {
		ref, ok := strings.CutPrefix(at, "ref: ")
		if !ok {
			break
		}
		if !isRef(ref) {
			return Head{}
		}
		h.Branch = strings.TrimPrefix(ref, "refs/heads/")
		if at = line(fs, filepath.Join(common, filepath.FromSlash(ref))); at == "" {
			at = packed(fs, filepath.Join(common, "packed-refs"), ref)
		}
	}
	if isHash(at) {
		h.Commit = at
	}
	return h
}

// packed is the hash of a reference in a file of many; empty if the file lacks it.
func packed(fs *scopefs.FS, path, ref string) string {
	file, err := fs.ReadFile(path, maxPacked)
	if err != nil {
		return ""
	}
	for lines := bufio.NewScanner(bytes.NewReader(file.Data)); lines.Scan(); {
		if hash, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref {
			return hash
		}
	}
	return ""
}

// line is the first line of a small file; empty when it can't be read.
func line(fs *scopefs.FS, path string) string {
	file, err := fs.ReadFile(path, maxRef)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(file.Data), "\n")
	return strings.TrimSpace(first)
}

// isRef says whether git accepts a text as the name of a reference that can be shown. A
// format that keeps its references elsewhere writes "refs/heads/.invalid".
func isRef(ref string) bool {
	const never = " ~^:?*[\\\x7f"
	return strings.HasPrefix(ref, "refs/") && !strings.ContainsAny(ref, never) && !strings.Contains(ref, "..") &&
		!strings.Contains(ref, "/.") && !strings.ContainsFunc(ref, func(r rune) bool { return r < ' ' })
}

// isHash says whether a text is a SHA-1 or a SHA-256.
func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// beside is a path relative to a directory, unless it is absolute.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
