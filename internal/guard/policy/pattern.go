package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// patternCommand is one command of a pattern.
type patternCommand struct {
	words []patternWord
	// before is the operator that joins it to the previous command: && || | or ;.
	before string
}

// patternWord matches one word of a command, or any number.
type patternWord struct {
	// parts are the texts between stars, which a word must have in this order.
	parts []string
	// many matches any number of words.
	many bool
	// program matches a program in any directory, option one option, which may be missing
	// together with the words that the next one matches. No written rule has these two.
	program, option bool
}

func (w patternWord) literal() bool { return !w.many && len(w.parts) == 1 }

// matchStars says whether text is the parts with any text between them.
func matchStars(parts []string, text string) bool {
	if len(parts) == 1 {
		return text == parts[0]
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// compileCommand reads a rule's command; an error continues "the command X ...".
func compileCommand(pattern string, d string) ([]patternCommand, error) {
	if strings.ContainsFunc(pattern, odd) || !utf8.ValidString(pattern) {
		return nil, errors.New("has a control character or a space that the shell does not treat as a space: remove it")
	}
	s := splitter{rest: pattern}
	if err := s.split(); err != nil {
		return nil, err
	}
	if len(s.commands) > 1 && d != Allow {
		return nil, fmt.Errorf("has an operator between commands, and a rule that denies or asks looks at each command by itself: write a rule for each")
	}
	for i := range s.commands {
		c := &s.commands[i]
		if last := &c.words[len(c.words)-1]; slices.Equal(last.parts, []string{"", ""}) && len(c.words) > 1 {
			*last = patternWord{many: true}
		}
		if first := c.words[0]; first.literal() && first.parts[0] == "" {
			return nil, errors.New("begins with an empty word, and no program has that name: begin with the program")
		}
		if first := c.words[0]; first.literal() && assignment.MatchString(first.parts[0]) {
			return nil, fmt.Errorf("begins with an assignment, which no rule can match: begin with the program")
		}
		if d != Allow {
			continue
		}
		if err := checkAllowed(c.words, len(s.commands) > 1); err != nil {
			return nil, err
		}
	}
	return s.commands, nil
}

// splitter reads a pattern: words with the quotes of a shell, and operators.
type splitter struct {
	rest     string
	commands []patternCommand
	word     *patternWord
}

func (s *splitter) split() error {
	s.commands = []patternCommand{{}}
	for s.rest != "" {
		if err := s.next(); err != nil {
			return err
		}
	}
	s.endWord()
	if slices.ContainsFunc(s.commands, func(c patternCommand) bool { return len(c.words) == 0 }) {
		return errors.New("has an empty command: write its words")
	}
	return nil
}

// next reads a part of a word, or the end of one.
func (s *splitter) next() error {
	c := s.rest[0]
	for _, op := range []string{"&&", "||", "|", ";", "\n"} {
		if strings.HasPrefix(s.rest, op) {
			s.endWord()
			s.commands = append(s.commands, patternCommand{before: strings.Replace(op, "\n", ";", 1)})
			s.rest = s.rest[len(op):]
			return nil
		}
	}
	switch {
	case c == ' ' || c == '\t':
		s.endWord()
	case c == '\'' || c == '"':
		return s.quoted(c)
	case c == '\\':
		if len(s.rest) == 1 {
			return errors.New("ends with a backslash: write what it quotes")
		}
		s.add(s.rest[1:2])
		s.rest = s.rest[2:]
		return nil
	case c == '*':
		return s.stars()
	case strings.IndexByte("$`<>()&", c) >= 0:
		return fmt.Errorf("has %c, which means something to the shell, so that no plain word has it: quote it, or leave it out", c)
	default:
		s.add(s.rest[:1])
	}
	s.rest = s.rest[1:]
	return nil
}

// stars reads *, or ** if that is a word.
func (s *splitter) stars() error {
	n := len(s.rest) - len(strings.TrimLeft(s.rest, "*"))
	after := s.rest[n:]
	alone := s.word == nil && (after == "" || strings.IndexByte(" \t\n;|&", after[0]) >= 0)
	switch {
	case n > 2 || n == 2 && !alone:
		return errors.New("has ** within a word: write * there, or ** as a word of its own")
	case n == 2:
		s.word = &patternWord{many: true}
	default:
		s.add("")
		s.word.parts = append(s.word.parts, "")
	}
	s.rest = after
	return nil
}

// quoted reads the text in quotes.
func (s *splitter) quoted(quote byte) error {
	s.add("")
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == quote:
			s.rest = s.rest[i+1:]
			return nil
		case c == '\\' && quote == '"' && i+1 < len(s.rest) && strings.IndexByte("\\\"$`", s.rest[i+1]) >= 0:
			i++
			s.add(s.rest[i : i+1])
		default:
			s.add(s.rest[i : i+1])
		}
	}
	return fmt.Errorf("lacks the closing %c: add it", quote)
}

// add appends text to the word, which it begins if necessary.
func (s *splitter) add(text string) {
	if s.word == nil {
		s.word = &patternWord{parts: []string{""}}
	}
	s.word.parts[len(s.word.parts)-1] += text
}

func (s *splitter) endWord() {
	if s.word != nil {
		last := &s.commands[len(s.commands)-1]
		last.words = append(last.words, *s.word)
		s.word = nil
	}
}

// quotePattern is a pattern that matches only one word.
func quotePattern(word string) string {
	if word != "" && strings.Trim(word, plainCharacters) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plainCharacters need no quotes in a pattern.
const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-{}[]~^!#?"
