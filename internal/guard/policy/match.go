package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// likeness says how certain it is that a command is that of a rule.
type likeness int

const (
	unlike likeness = iota
	// perhaps: podd cannot be sure, because the shell or another program decides.
	perhaps
	alike
)

// matches says whether a command of plain words is that of a rule that allows. The
// program must match as it is written.
func (p patternCommand) matches(words []string) bool {
	known := make([]word, len(words))
	for i, w := range words {
		known[i] = word{text: w, known: true}
	}
	return matcher{pattern: p.words, literal: beyond(words)}.match(known)
}

// against is the pattern of a rule that denies or asks: git -C dir push is git push, and
// a program without a directory in the rule is that program in any directory, in upper
// and lower case: /bin/RM is rm.
func (p patternCommand) against() []patternWord {
	first := p.words[0]
	if first.many {
		return p.words
	}
	parts := make([]string, len(first.parts))
	for i, part := range first.parts {
		parts[i] = strings.ToLower(part)
	}
	program := patternWord{parts: parts, program: true}
	return slices.Concat([]patternWord{program, {option: true}, {many: true}}, p.words[1:])
}

// likens compares a command with a rule that denies or asks.
func (c *compiled) likens(e execution) likeness {
	switch {
	case matcher{pattern: c.against, starts: e.starts}.match(e.words):
		return alike
	case matcher{pattern: c.against, starts: e.starts, doubt: true}.match(e.words):
		return perhaps
	}
	return unlike
}

// named says whether words that a program of the line may run name the command of a rule:
// all its literal parts. Then that program may run it.
func (c *compiled) named(text string) bool {
	return len(c.names) > 0 && !slices.ContainsFunc(c.names, func(r *regexp.Regexp) bool { return !r.MatchString(text) })
}

// namesOf are the parts of a text that name the command of a pattern. A word may also
// begin after the letters of an option, as in -xrm; the name of an option such as --rm
// does not count.
func namesOf(pattern []patternWord) []*regexp.Regexp {
	var names []*regexp.Regexp
	for _, w := range pattern {
		for i, part := range w.parts {
			part = unquote.Replace(strings.ToLower(part)) // The text has this form, too.
			expression := regexp.QuoteMeta(part)
			if i == 0 && wordly.MatchString(part) {
				expression = `(^|[^\w\x01-]|\w-|[^\w-]-[a-z]*)` + expression
			}
			if i == len(w.parts)-1 && wordly.MatchString(part) {
				expression += `(\W|$)`
			}
			if part != "" {
				names = append(names, regexp.MustCompile(expression))
			}
		}
	}
	return names
}

var wordly = regexp.MustCompile(`^\w(.*\w)?$`)

// matcher matches words one by one and tracks how much of the pattern they may have used
// up: its work is at most the product of both lengths.
type matcher struct {
	pattern []patternWord
	// literal marks the words that only a literal word of the pattern matches, starts those
	// where a command may begin, besides the first one.
	literal, starts []bool
	// doubt lets an unknown word be any number of words. Without it only ** certainly
	// matches one.
	doubt bool
}

func (m matcher) match(words []word) bool {
	at := make([]bool, len(m.pattern)+1)
	at[0] = true
	m.skip(at)
	next := make([]bool, len(at))
	for i, w := range words {
		if m.starts != nil && m.starts[i] {
			at[0] = true
			m.skip(at)
		}
		m.step(at, next, w, m.literal != nil && m.literal[i])
		at, next = next, at
	}
	return at[len(m.pattern)]
}

// step returns the possible places in the pattern after one more word.
func (m matcher) step(at, next []bool, w word, literal bool) {
	reached := false
	for i := range at {
		reached = reached || at[i]
		next[i] = !w.known && m.doubt && reached
	}
	for i, p := range m.pattern {
		switch {
		case !at[i]:
		case p.many:
			next[i] = next[i] || !literal
		case p.matches(w) && (!literal || p.literal()):
			next[i+1] = true
		}
	}
	m.skip(next)
}

// skip lets ** match no word, and lets the words between a program and its command be
// missing.
func (m matcher) skip(at []bool) {
	for i, p := range m.pattern {
		if at[i] && p.many {
			at[i+1] = true
		}
		if at[i] && p.option {
			at[i+2] = true
		}
	}
}

func (w patternWord) matches(text word) bool {
	switch {
	case w.option:
		return !text.known || strings.HasPrefix(text.text, "-")
	case !text.known:
		return false
	case w.program:
		name := strings.ToLower(text.text)
		if !strings.Contains(strings.Join(w.parts, ""), "/") {
			name = path.Base(name)
		}
		return matchStars(w.parts, name)
	}
	return matchStars(w.parts, text.text)
}
