package shell

import (
	"fmt"
	"path/filepath"
	"strings"

	"podd/internal/guard/policy"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// access is the basis of policy's decision on a command.
func (s *Runner) access(args shellArgs) tool.Access {
	use := s.grant(args)
	a := tool.Access{Command: args.Command, Level: use.level, Why: args.Why, Beyond: use.beyond, Confined: s.Confined && !use.beyond}
	if !s.boxed(args) {
		return a
	}
	a.Obeys = len(args.Changes) == 0 && use.level == item.AccessSandbox
	if policy.Pushes(args.Command) {
		a.Protected = []string{"it runs git push, which changes what others see"}
	}
	roots := s.FS.Roots()
	for _, path := range args.Changes {
		// run reports an invalid one.
		if c, err := s.Sandbox.Change(roots, path); err == nil {
			a.Protected = append(a.Protected, fmt.Sprintf("it changes %s, which is protected (%s)", scopefs.Display(s.FS.Rel(c.Path)), c.Why))
		}
	}
	return a
}

// protect starts to protect protected paths. Those that the call names may change, once a
// person has agreed to that.
func (r *run) protect(scope sandbox.Scope) (*sandbox.Guard, error) {
	var changes []string
	for _, path := range r.args.Changes {
		c, err := r.Sandbox.Change(scope.Roots, path)
		if err != nil {
			return nil, err
		}
		if r.call.Approved {
			changes = append(changes, c.Path)
		}
	}
	return r.Sandbox.Guard(scope, changes)
}

// allow lets the protected paths that a call without a sandbox names change also while other
// commands run.
func (s *Runner) allow(args shellArgs) error {
	for _, path := range args.Changes {
		c, err := s.Sandbox.Change(s.FS.Roots(), path)
		if err != nil {
			return err
		}
		s.Sandbox.Allow(c.Path)
	}
	return nil
}

// unguard is for when nothing of the command is left, and says what it changed against the
// rules.
func (r *run) unguard() sandbox.Undone {
	if r.guard == nil {
		return sandbox.Undone{}
	}
	return r.guard.End()
}

// wayToChange says how to change protected paths.
func wayToChange(paths []string) string {
	return "changing it needs approval: use write_file, or call again with changes " + list(paths)
}

// sayUndone is a sentence about what podd took back of a command's changes; empty without anything.
func (r *run) sayUndone(undone sandbox.Undone) string {
	var away, back, all []string
	dir, failed := "", ""
	for _, m := range undone.Moved {
		name := scopefs.Display(m.Path)
		all = append(all, name)
		switch {
		case len(m.Settings) > 0:
			back = append(back, fmt.Sprintf("%s out of %s", shortList(m.Settings), name))
		case m.Back:
			back = append(back, "the change of "+name)
		default:
			away = append(away, name)
		}
		if m.To != "" {
			dir = " to " + filepath.Dir(m.To)
		}
		switch {
		case m.Err == nil || failed != "":
		case m.Back:
			failed = fmt.Sprintf("; %s could not be put back: look at it before a program obeys it", name)
		default:
			failed = fmt.Sprintf("; %s is still there, remove it", name)
		}
	}
	var said []string
	if len(away) > 0 {
		said = append(said, "moved "+shortList(away)+" away"+dir)
	}
	if len(back) > 0 {
		said = append(said, "took "+shortList(back)+" back")
	}
	text := r.sayBehind(undone)
	if len(said) > 0 {
		text = strings.TrimSuffix("podd "+strings.Join(said, " and ")+": "+wayToChange(all)+failed+"; "+text, "; ")
	}
	return text
}

// sayHeld says which protected paths a command could not change, as far as its output
// shows; empty without one.
func (r *run) sayHeld(output string) string {
	if r.guard == nil || r.FS == nil || !saysReadOnly().MatchString(output) {
		return ""
	}
	var held []string
	for _, path := range r.guard.Held() {
		if rel := r.FS.Rel(path); strings.Contains(output, rel) {
			held = append(held, scopefs.Display(rel))
		}
	}
	switch len(held) {
	case 0:
		return ""
	case 1:
		return held[0] + " is protected: " + wayToChange(held)
	}
	return shortList(held) + " are protected: " + wayToChange(held)
}
