package claude

import (
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shell is what runs the commands.
var shell = sync.OnceValue(func() string {
	if bash, err := exec.LookPath("bash"); err == nil {
		return bash
	}
	return "sh"
})

// matcher says which tools, or kinds of an event, a hook is for. The zero matcher is for all.
type matcher struct {
	names []string
	re    *regexp.Regexp
}

// listForm is what Claude Code reads as a list of names; anything else is a regular expression.
var listForm = regexp.MustCompile(`^[A-Za-z0-9_\-\s,|]+$`)

func newMatcher(text string) (m matcher, err error) {
	switch {
	case text == "" || text == "*":
	case listForm.MatchString(text):
		for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '|' || r == ',' }) {
			m.names = append(m.names, strings.TrimSpace(name))
		}
	default:
		m.re, err = regexp.Compile(text)
	}
	return m, err
}

// fits says whether a hook is for one of the names, which mean the same. Events without names
// fit all.
func (m matcher) fits(names []string) bool {
	if m.names == nil && m.re == nil || len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(m.names, name) || m.re != nil && m.re.MatchString(name)
	})
}

var (
	commandSplit = regexp.MustCompile(`&&|\|\||[;|&\n]`)
	assignments  = regexp.MustCompile(`^(\s*[A-Za-z_]\w*=\S*)*\s*`)
)

// permits says whether a call matches a rule of permissions: a tool, and in parentheses a pattern
// of its command, path, pattern or URL. A rule in another form matches, as in Claude Code.
func permits(rule string, c call) bool {
	name, pattern, with := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	if rule == "" || len(c.names) == 0 {
		return true
	}
	if !slices.Contains(c.names, name) {
		return false
	}
	if !with || pattern == "" || pattern == "*" {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = prefix + "*"
	}
	for _, subject := range c.subjects() {
		if glob(pattern, subject) || strings.HasSuffix(pattern, " *") && subject == strings.TrimSuffix(pattern, " *") {
			return true
		}
	}
	return false
}

// subjects are what a rule can match of a call.
func (c call) subjects() (all []string) {
	text := func(key string) string { s, _ := c.input[key].(string); return s }
	for _, part := range commandSplit.Split(text("command"), -1) {
		all = append(all, strings.TrimSpace(part[len(assignments.FindString(part)):]))
	}
	for _, key := range []string{"file_path", "path"} {
		if p := text(key); p != "" {
			all = append(all, p, path.Base(p), strings.TrimPrefix(p, c.dir+"/"), "./"+strings.TrimPrefix(p, c.dir+"/"))
		}
	}
	return append(all, text("pattern"), text("url"))
}

// glob matches the whole of a text; each * is for any part of it.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	ok, _ := regexp.MatchString(`(?s)^(?:`+strings.Join(parts, ".*")+`)$`, text)
	return ok
}
