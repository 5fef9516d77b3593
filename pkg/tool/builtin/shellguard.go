package builtin

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// confines says whether commands run in a sandbox.
func (s *shell) confines() bool { return s.box != nil && s.box.Confines() }

// access is the basis of policy's decision on a command.
func (s *shell) access(args shellArgs) tool.Access {
	use := s.grant(args)
	a := tool.Access{Command: args.Command, Level: use.level, Why: args.Why, Beyond: use.beyond, Confined: s.Confined && !use.beyond}
	if !s.boxed(args) {
		return a
	}
	a.Obeys = len(args.Changes) == 0 && use.level == item.AccessSandbox
	if use.git.ask != "" {
		a.Protected = []string{use.git.ask}
	}
	roots := s.fs.Roots()
	for _, path := range args.Changes {
		// run reports an invalid one.
		if c, err := s.box.Change(roots, path); err == nil {
			a.Protected = append(a.Protected, fmt.Sprintf("it changes %s, which is protected (%s)", scopefs.Display(s.fs.Rel(c.Path)), c.Why))
		}
	}
	if open := s.box.Unheld(sandbox.Scope{Roots: roots}); open != "" {
		a.Confined = false
		a.Note = fmt.Sprintf("%s is protected, and the sandbox Landlock cannot protect it", scopefs.Display(s.fs.Rel(open)))
	}
	return a
}

// guard starts to protect protected paths. Those that the call names may change, once a
// person has agreed to that.
func (s *shell) guard(approved bool, scope sandbox.Scope, args shellArgs) (*sandbox.Guard, error) {
	var changes []string
	for _, path := range args.Changes {
		c, err := s.box.Change(scope.Roots, path)
		if err != nil {
			return nil, err
		}
		if approved {
			changes = append(changes, c.Path)
		}
	}
	g, err := s.box.Guard(scope, changes)
	if err != nil {
		return nil, err
	}
	// Policy has considered that mounts protect nothing here.
	if open := g.Open(); open != "" && !approved && s.box.Mode() == sandbox.Bwrap {
		g.Close()
		return nil, fmt.Errorf("the workspace has more protected paths, such as %s, than a sandbox can keep read-only: remove some, or have the command approved", scopefs.Display(s.fs.Rel(open)))
	}
	return g, nil
}

// allow lets the protected paths that a call without a sandbox names change also while other
// commands run.
func (s *shell) allow(args shellArgs) error {
	for _, path := range args.Changes {
		c, err := s.box.Change(s.fs.Roots(), path)
		if err != nil {
			return err
		}
		s.box.Allow(c.Path)
	}
	return nil
}

// unguard is for when nothing of the command is left, and says what it changed against the
// rules.
func (r *shellRun) unguard() []sandbox.Moved {
	if r.guard == nil {
		return nil
	}
	return r.guard.End()
}

// wayToChange says how to change a protected path.
const wayToChange = "changing it needs approval: use write_file, or name it in changes"

// sayMoved is a sentence about what was moved away; empty without anything.
func sayMoved(moved []sandbox.Moved) string {
	const most = 3
	var names []string
	dir, failed := "", ""
	for _, m := range moved {
		name := scopefs.Display(m.Path)
		if len(names) < most {
			names = append(names, name)
		}
		if m.To != "" {
			dir = filepath.Dir(m.To)
		}
		if m.Err != nil && failed == "" {
			failed = fmt.Sprintf("; %s is still there, remove it", name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names, ", ")
	if more := len(moved) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if dir != "" {
		dir = " to " + dir
	}
	return "podd moved " + text + " away" + dir + ": " + wayToChange + failed
}

// sayHeld says which protected path a command could not change, as far as its output
// shows; empty without one.
func (r *shellRun) sayHeld(output string) string {
	if r.guard == nil || r.shell.fs == nil || !saysReadOnly().MatchString(output) {
		return ""
	}
	held := r.guard.Held()
	i := slices.IndexFunc(held, func(path string) bool { return strings.Contains(output, filepath.Base(path)) })
	if i < 0 {
		return ""
	}
	return scopefs.Display(r.shell.fs.Rel(held[i])) + " is protected: " + wayToChange
}
