package builtin

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"podd/internal/guard/policy"
	"podd/internal/guard/sandbox"
	"podd/internal/workspace/git"
	"podd/pkg/scopefs"
)

// gitUse is what a command may change in repositories.
type gitUse struct {
	access sandbox.GitAccess
	// outside are git directories in none of the pod's directories that it changes.
	outside []string
	// ask says in half a sentence why a person has to agree to that; empty when nobody has to.
	ask string
	// restores says that the line only brings back what a repository has.
	restores bool
}

// gitUse is that of a command line. It counts in a sandbox alone: elsewhere a command may
// do anything.
func (s *shell) gitUse(line string) gitUse {
	if s.box == nil || !s.box.Confines() {
		return gitUse{}
	}
	leaky := s.box.Mode() == sandbox.Landlock
	commands, plain := policy.PlainCommands(line)
	if !plain {
		if leaky && git.Names(line) {
			return gitUse{ask: "it names .git, which Landlock does not keep read-only, and is not plain words"}
		}
		return gitUse{}
	}
	use, which := git.LineUse(commands)
	switch use {
	case git.Changes:
		return gitUse{
			access: sandbox.GitAll, outside: s.outside(),
			ask: strconv.Quote(which) + " may change what git executes or obeys, or more than this repository",
		}
	case git.Works:
		if outside := s.outside(); len(outside) > 0 {
			return gitUse{access: sandbox.GitWork, outside: outside, ask: fmt.Sprintf("it changes %s, which lies outside of the pod's directories", outside[0])}
		}
		return gitUse{access: sandbox.GitWork, restores: !slices.ContainsFunc(commands, makes)}
	}
	if program := git.Touches(commands); leaky && program != "" {
		return gitUse{ask: strconv.Quote(program) + " names .git, which Landlock does not keep read-only, and may change it"}
	}
	return gitUse{}
}

// makes says whether a command of git makes files other than those of its repository.
func makes(words []string) bool {
	return len(words) > 1 && words[0] == "git" && slices.Contains([]string{"am", "apply", "mv"}, words[1])
}

// outside are the git directories of the pod's directories that lie in none of them, as
// those of linked worktrees do.
func (s *shell) outside() (outside []string) {
	for _, root := range s.fs.Roots() {
		repo, ok := git.At(root.Path, "")
		if !ok || !root.Writable {
			continue
		}
		for _, dir := range repo.Dirs {
			// That of a worktree lies in the common one, and is not whole by itself.
			if git.IsDir(dir) && !s.has(dir) {
				outside = append(outside, dir)
			}
		}
	}
	return outside
}

// granted is what a command may change in repositories: what asks needs to be approved.
func (s *shell) granted(approved bool, line string) gitUse {
	use := s.gitUse(line)
	if use.ask != "" && !approved {
		return gitUse{}
	}
	return use
}

// errHeld is for a command that changed what no mount keeps as it is.
type errHeld struct{ path string }

func (e errHeld) Error() string {
	return fmt.Sprintf("it changed %s, which git executes or obeys", e.path)
}

// overHeld is an errHeld when the command changed what is held.
func (r *shellRun) overHeld() error {
	if path := r.held.Broken(); path != "" {
		return errHeld{path}
	}
	return nil
}

// mend undoes what the command did to what is held, once it has ended, and says it in half
// a sentence; empty when it did nothing.
func (r *shellRun) mend() string {
	held := r.held
	if r.shell.box != nil && r.shell.box.GitSince(r.gitMark) {
		held.Roots = nil // What is new may be another command's.
	}
	mended, err := held.Mend()
	if err != nil {
		r.shell.log.Error("what a command made in a repository cannot be undone", "error", err)
	}
	if len(mended) == 0 {
		return ""
	}
	r.shell.log.Warn("a command made what git executes or obeys; it was undone", "tool", "shell", "paths", mended)
	const most = 3
	text := strings.Join(mended[:min(len(mended), most)], ", ")
	if more := len(mended) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "; podd undid its change of " + text + ", which git executes or obeys: have it made by a plain git command, which asks"
}

// gitHint is what to do about an output of a command that says that a repository is
// read-only; empty when it does not.
func (s *shell) gitHint(line, output string) string {
	if s.box == nil || s.box.Mode() != sandbox.Bwrap {
		return ""
	}
	for said := range strings.Lines(output) {
		refused := strings.Contains(said, "Read-only file system") || strings.Contains(said, "Device or resource busy")
		switch {
		case !refused || !git.Names(said):
		case s.isOutside(said):
			return "; the repository lies outside of the workspace and is read-only"
		case s.gitUse(line).access == sandbox.GitRead:
			return "; .git is read-only to this command: run git add, commit and the like on a line of their own, in plain words without $, * or <"
		}
	}
	return ""
}

// isOutside says whether the path in a message, which is quoted, is in none of the pod's
// directories.
func (s *shell) isOutside(said string) bool {
	_, path, _ := strings.Cut(said, "'")
	path, _, _ = strings.Cut(path, "'")
	return filepath.IsAbs(path) && !s.has(path)
}

// has says whether a path lies in one of the pod's directories.
func (s *shell) has(path string) bool {
	return slices.ContainsFunc(s.fs.Roots(), func(r scopefs.Root) bool {
		rel, err := filepath.Rel(r.Path, path)
		return err == nil && filepath.IsLocal(rel)
	})
}
