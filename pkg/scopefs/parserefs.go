package scopefs

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"podd/pkg/item"
)

const (
	// maxRefBytes is longer than any path may be.
	maxRefBytes = 4096
	// maxTail is how many characters of punctuation may end a name without quotes.
	maxTail = 8
	// punctuation at the end belongs to the sentence, unless such a file exists.
	punctuation = ".,;:!?)]}"
)

// closers has the characters that a reference may follow directly, besides white space,
// and for each what ends the reference: nothing for brackets whose counterpart is
// punctuation already.
var closers = map[rune]string{
	'(': "", '[': "", '{': "", '<': ">",
	'"': `"`, '\'': "'", '`': "`", '“': "”", '‘': "’", '«': "»", '„': "“",
}

// ParseRefs finds the file references in a text that a user typed:
//
//	reference = "@" ( path | quoted ) [ range ]
//	quoted    = '"' one or more characters of one line '"'
//	range     = ":" line [ "-" line ]
//
// A reference may begin at the start of the text and after white space, an opening
// bracket or angle bracket, or a quote; so a@b is not a reference, and neither is the
// second @ of @@. A path runs to the next white space; a blank that a keyboard does not
// have, such as a no-break space, belongs to it if there is such a file. Of it,
//
//   - the text after the closing quote or angle bracket is dropped when the opening
//     one stands right before the @;
//   - the characters .,;:!?)]} at the end are dropped, unless a file is named with
//     some of them (up to eight);
//   - a range at the end is one, unless a file has that very name. Of
//     path:line:column, as compilers print it, the column is dropped.
//
// In quotes all characters are literal, except \" and \\; if that names no file but the
// escapes of Go do, they count. What is dropped stays in the text. A lone @, an empty or unclosed quote and a run of more than 4096 bytes are text.
//
// exists says whether a path leads to a file; it is called only if the answer matters.
// The sources of the pieces, joined, are the text, and no two plain ones are adjacent.
func ParseRefs(text string, exists func(path string) bool) []Piece {
	var pieces []Piece
	plain := 0 // start of the text that is in no piece yet
	s := scanner{text: text, exists: exists}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			break
		}
		at += i
		ref, end := s.refAt(at)
		if end == 0 {
			at++
			continue
		}
		if plain < at {
			pieces = append(pieces, Piece{Source: text[plain:at]})
		}
		pieces = append(pieces, Piece{Source: text[at:end], Ref: ref})
		plain, at = end, end
	}
	if plain < len(text) {
		pieces = append(pieces, Piece{Source: text[plain:]})
	}
	return pieces
}

// Piece is a part of a text: a reference, or plain text if Ref has no path.
type Piece struct {
	// Source is the typed text.
	Source string
	Ref    item.FileRef
}

type scanner struct {
	text   string
	exists func(string) bool
	// runEnd is the end of the last measured run without white space, blanks are where it has those
	// that a keyboard does not have, as far as they are not passed.
	runEnd int
	blanks []int
}

// refAt is the reference that begins at the @ at position at, and its end; end is 0
// without one.
func (s *scanner) refAt(at int) (ref item.FileRef, end int) {
	before, size := utf8.DecodeLastRuneInString(s.text[:at])
	closer, opens := closers[before]
	if size > 0 && !opens && !unicode.IsSpace(before) {
		return ref, 0
	}
	start := at + 1
	var length int
	if strings.HasPrefix(s.text[start:], `"`) {
		ref, length = s.quotedRef(s.text[start:])
	} else {
		ref, length = s.blankRef(start, closer)
	}
	if length == 0 {
		return ref, 0
	}
	return ref, start + length
}

// run is the text from start to the next white space of a keyboard. Every run is measured once, however
// many @ it contains.
func (s *scanner) run(start int) string {
	if start >= s.runEnd {
		s.runEnd = len(s.text)
		if i := strings.IndexFunc(s.text[start:], endsRun); i >= 0 {
			s.runEnd = start + i
		}
		s.blanks = oddBlanks(s.text[:s.runEnd], start)
	}
	for len(s.blanks) > 0 && s.blanks[0] < start {
		s.blanks = s.blanks[1:]
	}
	return s.text[start:s.runEnd]
}

func endsRun(r rune) bool { return unicode.IsSpace(r) && !oddBlank(r) }

// maxOddBlanks is how many blanks in a run are looked at.
const maxOddBlanks = 8

// blankRef is bareRef for the run from start. Blanks that a keyboard does not have are part of the path
// if a file is named so, otherwise the first one ends the run.
func (s *scanner) blankRef(start int, closer string) (ref item.FileRef, length int) {
	run := s.run(start)
	if len(s.blanks) == 0 {
		return s.bareRef(run, closer)
	}
	first := s.blanks[0] - start
	ends := []int{len(run)}
	for _, at := range slices.Backward(s.blanks[:min(len(s.blanks), maxOddBlanks)]) {
		ends = append(ends, at-start)
	}
	for _, end := range ends {
		if ref, length = s.bareRef(run[:end], closer); end > first && length > first && s.exists(ref.Path) {
			return ref, length
		}
	}
	return s.bareRef(run[:first], closer)
}

// quotedRef reads a path in quotes and the range after it; length is 0 without one.
func (s *scanner) quotedRef(text string) (ref item.FileRef, length int) {
	ref, length, raw := literalRef(text)
	if length == 0 || !strings.Contains(raw, `\`) || s.exists(ref.Path) {
		return ref, length
	}
	// FormatRef writes invisible characters so.
	if path, err := strconv.Unquote(raw); err == nil && s.exists(path) {
		ref.Path = path
	}
	return ref, length
}

// literalRef is quotedRef without escapes; raw is the path with its quotes.
func literalRef(s string) (ref item.FileRef, length int, raw string) {
	var path strings.Builder
	for i := 1; i < len(s) && i <= maxRefBytes; i++ {
		switch c := s[i]; {
		case c == '\n':
			return ref, 0, ""
		case c == '\\' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '"'):
			i++
			path.WriteByte(s[i])
		case c != '"':
			path.WriteByte(c)
		default:
			ref.Path = path.String()
			if ref.Path == "" {
				return ref, 0, ""
			}
			length, raw = i+1, s[:i+1]
			ref.StartLine, ref.EndLine, i = leadingRange(s[length:])
			return ref, length + i, raw
		}
	}
	return ref, 0, ""
}

// bareRef reads a path without quotes from a run of characters without white space;
// length is 0 without one.
func (s *scanner) bareRef(run, closer string) (ref item.FileRef, length int) {
	if len(run) > maxRefBytes || strings.HasPrefix(run, "@") {
		return ref, 0
	}
	if closer != "" {
		run, _, _ = strings.Cut(run, closer)
	}
	path := strings.TrimRight(run, punctuation)
	for n := len(path) + min(len(run)-len(path), maxTail); n > len(path); n-- {
		if s.exists(run[:n]) {
			return item.FileRef{Path: run[:n]}, n
		}
	}
	ref = item.FileRef{Path: path}
	if r, ok := splitRange(path); ok && !s.exists(path) {
		ref = r
		if at, ok := splitRange(r.Path); ok && at.EndLine == 0 && r.EndLine == 0 && !s.exists(r.Path) {
			return at, len(r.Path)
		}
	}
	return ref, len(path)
}

// splitRange separates a range of lines from the end of a path.
func splitRange(path string) (ref item.FileRef, ok bool) {
	colon := strings.LastIndexByte(path, ':')
	if colon <= 0 {
		return ref, false
	}
	start, end, length := leadingRange(path[colon:])
	if length == 0 || colon+length != len(path) {
		return ref, false
	}
	return item.FileRef{Path: path[:colon], StartLine: start, EndLine: end}, true
}

// leadingRange reads ":10" or ":10-20" at the start of s; length is 0 without one.
func leadingRange(s string) (start, end, length int) {
	rest, ok := strings.CutPrefix(s, ":")
	if !ok {
		return 0, 0, 0
	}
	start, rest = leadingLine(rest)
	if start == 0 {
		return 0, 0, 0
	}
	if tail, ok := strings.CutPrefix(rest, "-"); ok {
		if n, after := leadingLine(tail); n > 0 {
			end, rest = n, after
		}
	}
	return start, end, len(s) - len(rest)
}

// leadingLine reads a line number at the start of s; line is 0 without one.
func leadingLine(s string) (line int, rest string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n == 0 || n > 9 || s[0] == '0' {
		return 0, s
	}
	line, _ = strconv.Atoi(s[:n])
	return line, s[n:]
}

// FormatRef writes a reference as a user would. ParseRefs reads it back; one with invisible
// characters, which are written as escapes, if the file exists.
func FormatRef(ref item.FileRef) string {
	path := ref.Path
	switch {
	case strings.ContainsFunc(path, invisible):
		path = strconv.Quote(path)
	case !bare(path):
		path = quote(path)
	}
	return "@" + path + rangeSuffix(ref)
}

// invisible says whether a character does not show what it is, in quotes: a blank does.
func invisible(r rune) bool { return unprintable(r) && !oddBlank(r) }

// quote puts a path into the quotes of a reference.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// bare says whether a path can be written without quotes in any context.
func bare(path string) bool {
	if path == "." {
		return true // The workspace always exists.
	}
	_, ranged := splitRange(path)
	return path != "" && path[0] != '@' && !ranged && strings.TrimRight(path, punctuation) == path &&
		!strings.ContainsFunc(path, unicode.IsSpace) && !strings.ContainsAny(path, "<>\"'`“”‘’«»„")
}

// rangeSuffix is the written range of a reference, "" without one.
func rangeSuffix(ref item.FileRef) string {
	if ref.StartLine == 0 && ref.EndLine == 0 {
		return ""
	}
	s := ":" + strconv.Itoa(ref.StartLine)
	if ref.EndLine != 0 {
		s += "-" + strconv.Itoa(ref.EndLine)
	}
	return s
}
