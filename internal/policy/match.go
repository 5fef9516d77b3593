package policy

import (
	"path"
	"strings"
)

// likeness is how sure it is that a command is the one of a rule.
type likeness int

const (
	unlike likeness = iota
	// perhaps: it hangs on what the shell makes of the words that are not known.
	perhaps
	alike
)

// matches says whether a command of plain words is that of a rule that allows. The
// program is matched as it is written.
func (p patternCommand) matches(words []string) bool {
	known := make([]word, len(words))
	for i, w := range words {
		known[i] = word{text: w, known: true}
	}
	return matcher{pattern: p.words, guards: guarded(p.words)}.match(known)
}

// likens compares a command with that of a rule that denies or asks. A program
// that the rule names without a directory is that program in any directory, in
// upper and lower case: /bin/rm is rm.
func (p patternCommand) likens(words []word) likeness {
	if first := p.words[0]; !first.many {
		if !words[0].known {
			return perhaps
		}
		name := words[0].text
		if !strings.Contains(strings.Join(first.parts, ""), "/") {
			name = path.Base(name)
		}
		lower := make([]string, len(first.parts))
		for i, part := range first.parts {
			lower[i] = strings.ToLower(part)
		}
		if !matchStars(lower, strings.ToLower(name)) {
			return unlike
		}
		p.words, words = p.words[1:], words[1:]
	}
	switch {
	case matcher{pattern: p.words}.match(words):
		return alike
	case matcher{pattern: p.words, doubt: true}.match(words):
		return perhaps
	}
	return unlike
}

// matcher matches words one by one and keeps track of how much of the pattern the
// words so far may have used up: its work is the product of both lengths at most.
type matcher struct {
	pattern []patternWord
	// guards are the words that only a literal word of the pattern matches.
	guards []string
	// doubt lets a word that is not known be any words, or none. Without it only **
	// is sure to match one.
	doubt bool
}

func (m matcher) match(words []word) bool {
	at := make([]bool, len(m.pattern)+1)
	at[0] = true
	m.skip(at)
	for _, w := range words {
		at = m.step(at, w)
	}
	return at[len(m.pattern)]
}

// step is where the pattern may stand after one more word.
func (m matcher) step(at []bool, w word) []bool {
	next := make([]bool, len(at))
	reached := false
	for i := range at {
		reached = reached || at[i]
		if !w.known && m.doubt {
			next[i] = reached
			continue
		}
		if !at[i] || i == len(m.pattern) {
			continue
		}
		p := m.pattern[i]
		switch {
		case p.many:
			next[i] = next[i] || !w.known || !isGuarded(w.text, m.guards)
		case w.known && p.matches(w.text) && (p.literal() || !isGuarded(w.text, m.guards)):
			next[i+1] = true
		}
	}
	m.skip(next)
	return next
}

// skip lets ** be no word at all.
func (m matcher) skip(at []bool) {
	for i, p := range m.pattern {
		if at[i] && p.many {
			at[i+1] = true
		}
	}
}
