package policy

import (
	"slices"
	"strconv"
	"strings"
)

// because is a sentence that names the rules.
func (x *examined) because(what string, rules ...*compiled) string {
	var names []string
	for _, r := range rules {
		if name := r.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(names[:most], strconv.Itoa(more)+" more")
	}
	return x.name() + " " + what + " " + strings.Join(names, " and ") + "."
}

// protected is why no rule allows the call. The reasons may quote a model's text.
func (x *examined) protected() string {
	reasons := x.call.Protected
	const most = 3
	more := ""
	if n := len(reasons) - most; n > 0 {
		reasons, more = reasons[:most], "; and "+strconv.Itoa(n)+" more"
	}
	var list []string
	for _, reason := range reasons {
		list = append(list, phrase(reason))
	}
	return x.name() + " always needs approval: " + strings.Join(list, "; ") + more + "."
}

// phrase is a sentence as a part of another one.
func phrase(sentence string) string {
	return strings.TrimSuffix(strings.Map(func(r rune) rune {
		if odd(r) || r == '\n' || r == '\t' {
			return '?'
		}
		return r
	}, sentence), ".")
}

// doubt says that a rule may be against the call.
func (x *examined) doubt(r *compiled) string {
	why := "one of its paths leaves the workspace with .."
	if !x.unclear && x.seen != nil {
		why = "the shell computes one of its arguments"
		switch {
		case x.seen.hidden != nil:
			why = x.seen.hidden.Error()
		case r.named(x.seen.text.String()):
			why = "another command's arguments name that program"
		}
	}
	return x.name() + " needs approval because podd cannot tell whether " + r.String() + " applies to it: " + why + "."
}

// name is the call as the beginning of a sentence.
func (x *examined) name() string {
	switch {
	case x.call.Command != "" && x.call.level() != "":
		return x.call.level() + "the command " + quoted(x.call.Command)
	case x.call.Command != "":
		return "The command " + quoted(x.call.Command)
	case len(x.call.Paths) > 0:
		// The target of a link may be the greatest surprise.
		shown := max(slices.IndexFunc(x.call.Leads, func(leads []string) bool { return len(leads) > 0 }), 0)
		name := quoted(x.call.Paths[shown])
		if shown < len(x.call.Leads) && len(x.call.Leads[shown]) > 0 {
			name = Leading(x.call.Paths[shown], x.call.Leads[shown])
		}
		more := ""
		if n := len(x.call.Paths) - 1; n > 0 {
			more = " and " + strconv.Itoa(n) + " more"
		}
		return "The call of " + quoted(x.call.Tool) + " on " + name + more
	}
	if x.call.Host != "" {
		return "The call of " + quoted(x.call.Tool) + " to " + quoted(shortHost(x.call.Host))
	}
	note := ""
	if x.call.Note != "" {
		note = " (" + phrase(x.call.Note) + ")"
	}
	return "The call of " + quoted(x.call.Tool) + note
}

// Leading is a path with its target, as in a verdict.
func Leading(path string, leads []string) string {
	return quoted(path) + ", which leads to " + quoted(leads[0]) + ","
}

// quoted is third-party text in a sentence: in quotes, escaped, not too long.
func quoted(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "..."
	}
	return strconv.Quote(text)
}

// toml is text as a string of a configuration file.
func toml(text string) string {
	if !strings.ContainsAny(text, "'\n\t") {
		return "'" + text + "'"
	}
	return strconv.Quote(text)
}
