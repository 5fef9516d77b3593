package fold

import "strings"

// word is one word of a shell command, quotes removed.
type word struct {
	text string
	// quoted says that a part of it was quoted, pattern that an unquoted part is a pattern
	// of file names.
	quoted, pattern bool
}

// splitShell splits a command into pipelines of commands of words; ok is false if it
// contains anything but plain and quoted words, patterns and the operators ; && || | and
// newline. Every command has a word.
func splitShell(command string) (pipelines [][][]word, ok bool) {
	s := shellScanner{rest: command}
	for s.rest != "" {
		if !s.step() {
			return nil, false
		}
	}
	if !s.endPipeline() {
		return nil, false
	}
	return s.pipelines, true
}

type shellScanner struct {
	rest      string
	pipelines [][][]word
	pipeline  [][]word
	words     []word
	// wants says that the last operator needs another command.
	wants bool
}

// step reads the next operator, word or space.
func (s *shellScanner) step() bool {
	switch {
	case strings.HasPrefix(s.rest, "&&"), strings.HasPrefix(s.rest, "||"):
		if len(s.words) == 0 || !s.endPipeline() {
			return false
		}
		s.rest, s.wants = s.rest[2:], true
	case s.rest[0] == '|':
		if len(s.words) == 0 {
			return false
		}
		s.endCommand()
		s.rest, s.wants = s.rest[1:], true
	case s.rest[0] == ';':
		if len(s.words) == 0 || !s.endPipeline() {
			return false
		}
		s.rest = s.rest[1:]
	case s.rest[0] == '\n':
		// After an operator a command may begin on the next line.
		if len(s.words) > 0 && !s.endPipeline() {
			return false
		}
		s.rest = s.rest[1:]
	case s.rest[0] == ' ' || s.rest[0] == '\t':
		s.rest = s.rest[1:]
	default:
		return s.word()
	}
	return true
}

func (s *shellScanner) endCommand() {
	s.pipeline = append(s.pipeline, s.words)
	s.words, s.wants = nil, false
}

// endPipeline is false when a command is missing.
func (s *shellScanner) endPipeline() bool {
	if len(s.words) == 0 {
		return !s.wants
	}
	s.endCommand()
	s.pipelines = append(s.pipelines, s.pipeline)
	s.pipeline = nil
	return true
}

// Characters of a plain word, and those of a pattern.
const (
	plainChars   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+@%="
	patternChars = "*?[]"
)

// word reads a word, up to a space or an operator.
func (s *shellScanner) word() bool {
	var w word
	var text strings.Builder
	for s.rest != "" {
		c := s.rest[0]
		switch {
		case strings.IndexByte(" \t\n;|&", c) >= 0:
			w.text = text.String()
			s.words = append(s.words, w)
			return c != '&' || strings.HasPrefix(s.rest, "&&")
		case c == '\'' || c == '"':
			inner, rest, closed := strings.Cut(s.rest[1:], string(c))
			if !closed || c == '"' && strings.ContainsAny(inner, "$`\\!") || strings.ContainsRune(inner, 0) {
				return false
			}
			text.WriteString(inner)
			w.quoted, s.rest = true, rest
			continue
		case strings.IndexByte(patternChars, c) >= 0:
			w.pattern = true
		case strings.IndexByte(plainChars, c) < 0 && c < 0x80:
			return false
		}
		text.WriteByte(c)
		s.rest = s.rest[1:]
	}
	w.text = text.String()
	s.words = append(s.words, w)
	return true
}
