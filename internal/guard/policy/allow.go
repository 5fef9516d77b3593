package policy

import (
	"strconv"
	"strings"
)

// allowing is the sentence that allows the call by rules; empty if they don't. Every path
// and every command must have a rule: one rule for all, or several.
func (x *examined) allowing() string {
	var used []*compiled
	switch whatever := x.rule(allowsWhatever); {
	case whatever != nil:
		used = []*compiled{whatever}
	case x.call.Host != "":
		used = x.byHost()
	case x.call.Command != "":
		used = x.byLine(Allow)
	default:
		used = x.byPaths()
	}
	if used == nil {
		return ""
	}
	return x.because("is allowed by", used...)
}

// allowsWhatever says that a rule allows the tool whatever it does.
func allowsWhatever(r *compiled) bool {
	return r.Decision == Allow && r.command == nil && r.path == "" && r.host == ""
}

// outside is a rule with only, if no such rule names the line.
func (x *examined) outside() *compiled {
	if x.byLine(Only) != nil {
		return nil
	}
	return x.rule(func(r *compiled) bool { return r.Decision == Only })
}

// byLine are the rules with a decision that allow the line: one for the whole line, or those of its
// commands. The line is parsed only if there is such a rule, because that is the slowest
// part of a decision.
func (x *examined) byLine(d string) []*compiled {
	allows := func(r *compiled) bool { return r.Decision == d && x.allows(r) }
	if x.rule(allows) == nil {
		return nil
	}
	commands, err := plain(x.call.Command)
	if err != nil {
		return nil
	}
	whole := x.rule(func(r *compiled) bool {
		return len(r.command) > 1 && allows(r) && sameLine(r.command, commands)
	})
	if whole != nil {
		return []*compiled{whole}
	}
	return x.byCommands(commands, allows)
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

// allows says whether a rule with a command may allow the call as far as paths are
// concerned.
func (x *examined) allows(r *compiled) bool {
	if r.command == nil || r.host != "" {
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

// byCommands are the rules that allow the commands of a line, one for each; nil if a
// command has none.
func (x *examined) byCommands(commands []command, allows func(*compiled) bool) []*compiled {
	var used []*compiled
	for _, c := range commands {
		r := x.rule(func(r *compiled) bool {
			return allows(r) && len(r.command) == 1 && r.command[0].matches(c.words)
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
			return r.Decision == Allow && r.command == nil && r.host == "" && r.path != "" && r.matchesPath(p)
		})
		if r == nil {
			return nil
		}
		used = append(used, r)
	}
	return used
}

// byHost is the rule that allows the host of a call, which has neither path nor command.
func (x *examined) byHost() []*compiled {
	r := x.rule(func(r *compiled) bool {
		return r.Decision == Allow && r.command == nil && r.path == "" && r.host != "" && r.coversHost(x.call.Host)
	})
	if r == nil || x.call.Command != "" || len(x.call.Paths) > 0 {
		return nil
	}
	return []*compiled{r}
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
			return "; no rule can allow it because " + err.Error() + "."
		}
	}
	return " and no rule allows it."
}

// wayToAllow is what an operator does to allow the call in a mode that never asks.
func (x *examined) wayToAllow() string {
	if r, err := RuleFor(x.call); err == nil {
		parts := []string{"tool = " + toml(r.Tool)}
		if r.Path != "" {
			parts = append(parts, "path = "+toml(r.Path))
		}
		if r.Command != "" {
			parts = append(parts, "command = "+toml(r.Command))
		}
		if r.Host != "" {
			parts = append(parts, "host = "+toml(r.Host))
		}
		if len(r.Access) > 0 {
			parts = append(parts, "access = ["+strconv.Quote(names(r.Access))+"]")
		}
		return "to allow it, add a [[rule]] with " + strings.Join(parts, ", ") + ` and decision = "allow" to podd's configuration, or set ask to "risky" and approve it`
	}
	return `to allow it, set ask to "risky" and approve it`
}
