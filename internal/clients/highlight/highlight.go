package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a token is.
type Kind uint8

// The kinds of token.
const (
	Text Kind = iota
	Comment
	String
	Keyword
	Number
)

// Token is a piece of code; it may have several lines.
type Token struct {
	Kind Kind
	Text string
}

// MaxCode is how much code is looked at, in bytes; longer code is one token of text.
const MaxCode = 64 << 10

// Code divides code in a language, which a fence or the end of a file's name gives. Code of
// an unknown language is one token of text.
func Code(language, code string) []Token {
	f := of(language)
	if f == nil || len(code) > MaxCode {
		return []Token{{Text, code}}
	}
	s := scanner{family: f, code: code}
	for s.at < len(s.code) {
		s.next()
	}
	s.emit(Text, s.at)
	return s.tokens
}

// scanner goes through code. What is before from is in tokens.
type scanner struct {
	*family
	code     string
	from, at int
	tokens   []Token
}

// emit adds the code up to end as a token.
func (s *scanner) emit(k Kind, end int) {
	if end > s.from {
		s.tokens = append(s.tokens, Token{k, s.code[s.from:end]})
	}
	s.from, s.at = end, max(end, s.at)
}

// next takes what begins here.
func (s *scanner) next() {
	rest := s.code[s.at:]
	if n, kind := s.marked(rest); n > 0 {
		s.emit(Text, s.at)
		s.emit(kind, s.at+n)
		return
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsDigit(r):
		s.emit(Text, s.at)
		s.emit(Number, s.at+s.span(rest))
	case unicode.IsLetter(r) || strings.ContainsRune("_#@!$", r):
		n := max(s.span(rest[size:])+size, size)
		word := rest[:n]
		if s.folds {
			word = strings.ToLower(word)
		}
		if s.words[word] {
			s.emit(Text, s.at)
			s.emit(Keyword, s.at+n)
			return
		}
		s.at += n
	default:
		s.at += size
	}
}

// span is the length of the letters and digits at the beginning of text.
func (s *scanner) span(text string) int {
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && (r != '-' && r != '?' && r != '*' || !s.dashes) {
			return i
		}
	}
	return len(text)
}

// marked is the length and kind of the comment or string that begins text; 0 if none does.
func (s *scanner) marked(text string) (n int, k Kind) {
	if len(s.block) > 0 && strings.HasPrefix(text, s.block[0]) {
		return closed(text, s.block[0], s.block[1]), Comment
	}
	for _, mark := range s.line {
		if strings.HasPrefix(text, mark) && (mark == "//" || mark == "--" || s.at == 0 || strings.ContainsRune(" \t\n;({", rune(s.code[s.at-1]))) {
			if end := strings.IndexByte(text, '\n'); end >= 0 {
				return end, Comment
			}
			return len(text), Comment
		}
	}
	for _, mark := range s.raw {
		if strings.HasPrefix(text, mark) {
			return closed(text, mark, mark), String
		}
	}
	if strings.IndexByte(s.quotes, text[0]) >= 0 {
		return quoted(text), String
	}
	return 0, Text
}

// closed is the length of text up to the end of what begins with open.
func closed(text, open, end string) int {
	if i := strings.Index(text[len(open):], end); i >= 0 {
		return len(open) + i + len(end)
	}
	return len(text)
}

// quoted is the length of the string in quotes that begins text; 0 if its line ends first,
// as behind an apostrophe.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i + 1
		case '\\':
			i++
		case '\n':
			return 0
		}
	}
	return 0
}
