package shell

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"podd/internal/guard/sandbox"
	"podd/pkg/scopefs"
)

// errStubborn is for a command that changes a path again and again that is put back.
type errStubborn struct{ path string }

func (e errStubborn) Error() string {
	return fmt.Sprintf("it changed %s again and again, which is protected", e.path)
}

// overGuard is an errStubborn if the command does not let go of a protected path.
func (r *run) overGuard() error {
	if path := r.guard.Stubborn(); path != "" {
		if r.FS != nil {
			path = scopefs.Display(r.FS.Rel(path))
		}
		return errStubborn{path}
	}
	return nil
}

// sayBehind is a sentence about the files that git has other content for and could not change, with the calls by
// which they follow; empty without any.
func (r *run) sayBehind(undone sandbox.Undone) string {
	var said []string
	say := func(paths []string, what, verb string) {
		var inside, outside []string
		for _, path := range paths {
			if r.has(path) {
				inside = append(inside, scopefs.Display(r.FS.Rel(path)))
			} else {
				outside = append(outside, path)
			}
		}
		if len(inside) > 0 {
			said = append(said, fmt.Sprintf("git %s %s, which podd protects: a commit of all changes would take that back; if they shall follow, call %s with changes %s, which needs approval",
				what, shortList(inside), strconv.Quote(verb+strings.Join(shellWords(inside), " ")), list(inside)))
		}
		if len(outside) > 0 {
			said = append(said, fmt.Sprintf(`git %s %s, outside of the workspace: a commit of all changes would take that back; if they shall follow, call %s with access "host" and why`,
				what, shortList(outside), strconv.Quote(verb+strings.Join(shellWords(outside), " "))))
		}
	}
	say(undone.Behind, "could not change", "git checkout -- ")
	say(undone.Left, "could not remove", "rm -r ")
	return strings.Join(said, "; ")
}

// mostNamed is how many paths a sentence names.
const mostNamed = 3

// shortList names the first of some paths.
func shortList(paths []string) string {
	text := strings.Join(paths[:min(len(paths), mostNamed)], ", ")
	if more := len(paths) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// mostListed is how many paths a call lists that podd proposes; a directory stands for more.
const mostListed = 8

// list is a list of paths as an argument has it.
func list(paths []string) string {
	var quoted []string
	for _, path := range paths[:min(len(paths), mostListed)] {
		quoted = append(quoted, strconv.Quote(path))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// shellWords are paths as words for a shell.
func shellWords(paths []string) (quoted []string) {
	for _, path := range paths[:min(len(paths), mostListed)] {
		if !plainPath().MatchString(path) {
			path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
		}
		quoted = append(quoted, path)
	}
	return quoted
}

// isOutside says whether the path in a message, which is quoted, is in none of the pod's
// directories.
func (s *Runner) isOutside(said string) bool {
	_, path, _ := strings.Cut(said, "'")
	path, _, _ = strings.Cut(path, "'")
	return filepath.IsAbs(path) && !s.has(path)
}
