package policy

import (
	"slices"
	"strings"

	"podd/pkg/item"
)

// RuleFor is the rule that permanently allows a call that a person approved: the same
// tool with the same command line, word by word, or on the same paths, and nothing else.
// A line of several commands is allowed as a whole, not each of them. The caller sets
// Source.
//
// An error, of kind KindPrecondition and reason NO_RULE, says why there is no such rule:
// the line is not plain words, the call is protected, or the call names neither a command
// nor a path, so that the rule would allow the tool whatever it does.
func RuleFor(c Call) (item.Rule, error) {
	no := func(format string, args ...any) (item.Rule, error) {
		return item.Rule{}, item.Errorf(item.KindPrecondition, "NO_RULE", format, args...)
	}
	r := item.Rule{Tool: c.Tool, Decision: Allow}
	if c.Beyond {
		r.Access = []item.Access{c.Level}
	}
	switch {
	case c.Tool == "" || strings.Contains(c.Tool, "*"):
		return no("no rule can be made for a tool named %s: approve the call alone", quoted(c.Tool))
	case len(c.Protected) > 0:
		return no("no rule can allow this call, which needs approval each time (%s): approve the call alone", phrase(c.Protected[0]))
	case c.Command == "" && len(c.Paths) == 0 && c.Host == "":
		return no("the call names no command, path or host, so that a rule would allow %s whatever it does: approve the call alone, or add a [[rule]] with this tool to podd's configuration", quoted(c.Tool))
	}
	r.Host = shortHost(c.Host)
	var err error
	if c.Command != "" {
		if r.Command, err = exactCommand(c.Command); err != nil {
			return no("no rule can allow this command, because %v: approve the call alone", err)
		}
	}
	if len(c.Paths) > 0 {
		if r.Path, err = exactPath(c.allPaths()); err != nil {
			return no("no rule can allow this call, because %v: approve the call alone", err)
		}
	}
	// Trying shows what a rule cannot express.
	p, err := New(Always, []item.Rule{r})
	if err != nil {
		return no("no rule can allow this call alone (%v): approve the call alone", err)
	}
	if p.Decide(c).Decision != Allow {
		return no("no rule can be written for this call: approve the call alone")
	}
	return r, nil
}

// exactCommand is the pattern of exactly one line.
func exactCommand(line string) (string, error) {
	commands, err := plain(line)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range commands {
		switch c.before {
		case "":
		case ";":
			b.WriteString("; ")
		default:
			b.WriteString(" " + c.before + " ")
		}
		for i, w := range c.words {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quotePattern(w))
		}
	}
	return b.String(), nil
}

// exactPath is the glob of exactly some paths.
func exactPath(paths []string) (string, error) {
	var globs []string
	for _, p := range paths {
		cleaned, ok := callPath(p)
		if !ok {
			return "", item.Errorf(item.KindInvalid, "PATH", "it leaves the workspace with ..")
		}
		if glob := escapeGlob(cleaned); !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	if len(globs) == 1 {
		return globs[0], nil
	}
	for _, g := range globs {
		if strings.Contains(g, ",") {
			return "", item.Errorf(item.KindInvalid, "PATH", "one of several paths has a comma")
		}
	}
	return "{" + strings.Join(globs, ",") + "}", nil
}
