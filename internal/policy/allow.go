package policy

import "strings"

// allowing is the sentence that allows the call by rules; empty when they don't.
// Every path and every command must have a rule: one rule, or several between them.
func (x *examined) allowing() string {
	if r := x.whole(); r != nil {
		return x.because("is allowed by", r)
	}
	var used []*compiled
	if x.call.Command != "" {
		used = x.byCommands()
	} else {
		used = x.byPaths()
	}
	if used == nil {
		return ""
	}
	return x.because("is allowed by", used...)
}

// whole is a rule that allows the tool whatever it does, or the line as a whole.
func (x *examined) whole() *compiled {
	for _, r := range x.rules {
		if r.Decision == Allow && r.command == nil && r.path == "" {
			return r
		}
	}
	commands, err := plain(x.call.Command)
	if x.call.Command == "" || err != nil {
		return nil
	}
	for _, r := range x.rules {
		if len(r.command) > 1 && x.allows(r) && sameLine(r.command, commands) {
			return r
		}
	}
	return nil
}

func sameLine(pattern []patternCommand, commands []command) bool {
	if len(pattern) != len(commands) {
		return false
	}
	for i, p := range pattern {
		if p.before != commands[i].before || !p.matches(commands[i].words) {
			return false
		}
	}
	return true
}

// allows says whether a rule with a command may allow the call as far as paths go.
func (x *examined) allows(r *compiled) bool {
	if r.Decision != Allow || r.command == nil {
		return false
	}
	if r.path == "" {
		return true
	}
	for _, p := range x.paths {
		if !r.matchesPath(p) {
			return false
		}
	}
	return !x.unclear && len(x.paths) > 0
}

// byCommands are the rules that allow the commands of the line, one each; nil when
// one is allowed by none.
func (x *examined) byCommands() []*compiled {
	commands, err := plain(x.call.Command)
	if err != nil {
		return nil
	}
	var used []*compiled
	for _, c := range commands {
		r := x.rule(func(r *compiled) bool {
			return x.allows(r) && len(r.command) == 1 && r.command[0].matches(c.words)
		})
		if r == nil {
			return nil
		}
		used = append(used, r)
	}
	return used
}

// byPaths are the rules that allow the paths of a call that runs no command.
func (x *examined) byPaths() []*compiled {
	if x.unclear {
		return nil
	}
	var used []*compiled
	for _, p := range x.paths {
		r := x.rule(func(r *compiled) bool {
			return r.Decision == Allow && r.command == nil && r.path != "" && r.matchesPath(p)
		})
		if r == nil {
			return nil
		}
		used = append(used, r)
	}
	return used
}

func (x *examined) rule(is func(*compiled) bool) *compiled {
	for _, r := range x.rules {
		if is(r) {
			return r
		}
	}
	return nil
}

// unruled ends a sentence about a call that no rule allows.
func (x *examined) unruled() string {
	if x.call.Command != "" {
		if _, err := plain(x.call.Command); err != nil {
			return "; no rule over commands can allow it, because " + err.Error() + "."
		}
	}
	return " and no rule allows it."
}

// wayToAllow is what an operator does to allow the call where nobody is asked.
func (x *examined) wayToAllow() string {
	if r, err := RuleFor(x.call); err == nil {
		parts := []string{"tool = " + toml(r.Tool)}
		if r.Path != "" {
			parts = append(parts, "path = "+toml(r.Path))
		}
		if r.Command != "" {
			parts = append(parts, "command = "+toml(r.Command))
		}
		return "to allow it, add a [[rule]] with " + strings.Join(parts, ", ") + ` and decision = "allow" to podd's configuration, or set ask to "risky" and approve it`
	}
	return `to allow it, set ask to "risky" and approve it`
}
