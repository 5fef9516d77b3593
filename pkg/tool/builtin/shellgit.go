package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"podd/internal/guard/policy"
	"podd/internal/guard/sandbox"
	"podd/internal/workspace/git"
)

// gitUse is what a command may change in repositories.
type gitUse struct {
	access sandbox.GitAccess
	// outside are git directories outside of the pod's directories that it changes.
	outside []string
	// ask says in half a sentence why a person has to agree to that; empty without a reason.
	ask string
	// restores says that the line only restores files of a repository.
	restores bool
	// names says that it asks because a program that is not git names .git.
	names bool
}

// gitUse is that of a command line. It applies only in a sandbox: without one a command
// may do anything.
func (s *shell) gitUse(line string) gitUse {
	if s.box == nil || !s.box.Confines() {
		return gitUse{}
	}
	leaky := s.box.Mode() == sandbox.Landlock
	commands, plain := policy.PlainCommands(line)
	if !plain {
		if leaky && git.Names(line) {
			return gitUse{names: true, ask: "it names .git, which Landlock cannot keep read-only, and uses shell syntax beyond plain words"}
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
			return gitUse{access: sandbox.GitWork, outside: outside, ask: fmt.Sprintf("it changes %s, which is outside the pod's directories", outside[0])}
		}
		return gitUse{access: sandbox.GitWork, restores: !slices.ContainsFunc(commands, makes)}
	}
	program := git.Touches(commands)
	switch {
	case program == "":
		return gitUse{}
	case leaky:
		return gitUse{names: true, ask: strconv.Quote(program) + " names .git, which Landlock does not keep read-only, and may change it"}
	}
	return gitUse{names: true, access: sandbox.GitAll, outside: s.outside(), ask: strconv.Quote(program) + " names .git and may change all of it"}
}

// anyGit is that of a command that asks for a writable .git, whatever its line is.
func (s *shell) anyGit() gitUse {
	use := gitUse{access: sandbox.GitWork, outside: s.outside()}
	switch {
	case s.box.Mode() == sandbox.Landlock:
		use.ask = "Landlock cannot keep it from what git executes or obeys"
	case len(use.outside) > 0:
		use.ask = fmt.Sprintf("it changes %s, which lies outside of the pod's directories", use.outside[0])
	}
	return use
}

// useOf says what a call may change in repositories: a job may change nothing, if that
// can be prevented.
func (s *shell) useOf(args shellArgs) gitUse {
	if args.Background && s.box != nil && s.box.Mode() == sandbox.Bwrap {
		return gitUse{}
	}
	return s.gitUse(args.Command)
}

// makes says whether a command of git creates files other than those of its repository.
func makes(words []string) bool {
	return len(words) > 1 && words[0] == "git" && slices.Contains([]string{"am", "apply", "mv"}, words[1])
}

// outside are the git directories of the pod's directories that are in none of them, such
// as those of linked worktrees.
func (s *shell) outside() (outside []string) {
	for _, root := range s.fs.Roots() {
		repo, ok := git.At(root.Path, "")
		if !ok || !root.Writable {
			continue
		}
		for _, dir := range repo.Dirs {
			// That of a worktree is in the common one, and is not complete by itself.
			if git.IsDir(dir) && !s.has(dir) {
				outside = append(outside, dir)
			}
		}
	}
	return outside
}

// errHeld is for a command that changed a path that no mount protects.
type errHeld struct{ path string }

func (e errHeld) Error() string {
	return fmt.Sprintf("it changed %s, which git executes or uses as configuration", e.path)
}

// overHeld is an errHeld if the command changed a held path.
func (r *shellRun) overHeld() error {
	if path := r.held.Broken(); path != "" {
		return errHeld{path}
	}
	return nil
}

// How often, and after which pauses, podd tries again to look at a repository while it has too many files open.
const (
	repairTries = 20
	repairPause = 100 * time.Millisecond
)

// repair undoes the command's changes of held paths, once it has ended, and describes them
// in half a sentence; empty without any.
func (r *shellRun) repair() string {
	held := r.held
	if r.shell.box != nil && r.shell.box.GitSince(r.gitMark) {
		held.Roots = nil // A new repository may be another command's.
	}
	repaired, err := held.Repair()
	// Other commands give files back.
	for tries := 0; tries < repairTries && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)); tries++ {
		time.Sleep(repairPause)
		var more []string
		more, err = held.Repair()
		repaired = append(repaired, slices.DeleteFunc(more, func(path string) bool { return slices.Contains(repaired, path) })...)
	}
	said := ""
	if err != nil {
		r.shell.log.Error("what a command made in a repository cannot be undone", "error", err)
		said = fmt.Sprintf("; podd could not undo what it may have changed of git's hooks and configuration (%v): look at them before you use git", err)
	}
	if len(repaired) == 0 {
		return said
	}
	r.shell.log.Warn("a command made what git executes or obeys; it was undone", "tool", "shell", "paths", repaired)
	const most = 3
	text := strings.Join(repaired[:min(len(repaired), most)], ", ")
	if more := len(repaired) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "; podd undid its change of " + text + ", which git executes or obeys: have it made by a plain git command, which asks" + said
}
