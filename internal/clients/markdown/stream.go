package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"podd/internal/clients/show"
)

// Blocks are the lines of a whole text, at most width columns wide; prose is at most Prose
// wide. Width below 1 means no limit.
func Blocks(source string, width int) []show.Line {
	s := NewStream(width)
	s.Write(source)
	s.End()
	return s.Final()
}

// Prose is how wide running text becomes, in columns.
const Prose = 100

const (
	// cheap is the size up to which an unfinished block is always parsed again, in bytes.
	cheap = 4 << 10
	// again is how many times the size of the text may be parsed in all, beyond that.
	again = 16
	// plainTail is how much of a tail shows that is not parsed, in bytes.
	plainTail = 8 << 10
)

// Stream is a text that comes in pieces. Call Final before Tail.
type Stream struct {
	width int
	known map[string]parser.Reference
	// pending is the text behind the last final block; whole is the length of its complete
	// lines, seen the length of those that were looked at.
	pending     []byte
	whole, seen int
	// written and parsed are how many bytes came, and how many were parsed for them.
	written, parsed int
	ended           bool
	// begun says that a final line has been returned: a blank one separates the next block.
	begun bool
}

// NewStream is a text that is shown in width columns.
func NewStream(width int) *Stream {
	return &Stream{width: width, known: make(map[string]parser.Reference)}
}

// Write adds a piece. It costs nothing: Final and Tail parse.
func (s *Stream) Write(piece string) {
	s.pending = append(s.pending, piece...)
	s.written += len(piece)
	if i := strings.LastIndexByte(piece, '\n'); i >= 0 {
		s.whole = len(s.pending) - len(piece) + i + 1
	}
}

// End says that the text is complete: Final then returns the rest of it.
func (s *Stream) End() {
	s.ended = true
	s.whole = len(s.pending)
}

// Final are the lines that became final since the last call.
func (s *Stream) Final() (lines []show.Line) {
	if s.whole == s.seen && !s.ended || !s.affords(s.whole) {
		return nil
	}
	source := s.pending[:s.whole]
	starts := boundaries(source)
	if s.ended {
		starts = append(starts, len(source))
	}
	at := 0
	for i := 1; i < len(starts); i++ {
		lines = append(lines, s.block(source[at:starts[i]], s.known)...)
		at = starts[i]
	}
	if s.ended && at < len(source) {
		at = len(source) // Blank lines alone.
	}
	s.pending = bytes.Clone(s.pending[at:])
	s.whole -= at
	s.seen = s.whole
	return lines
}

// Tail are the lines of the text behind the last final block, as they look so far. They are
// plain where the block is too long to be parsed once more.
func (s *Stream) Tail() []show.Line {
	source := s.pending
	if mark := source[s.whole:]; len(bytes.Trim(mark, " \t-=#*+_|:>~`.0123456789")) == 0 {
		source = source[:s.whole] // It could become anything.
	}
	source = source[:len(source)-partial(source)]
	if len(bytes.TrimSpace(source)) == 0 {
		return nil
	}
	if s.affords(len(source)) {
		begun := s.begun
		lines := s.block(source, nil)
		s.begun = begun
		return lines
	}
	source = bytes.ToValidUTF8(source[max(0, len(source)-plainTail):], nil)
	var lines []show.Line
	for _, line := range show.Text(string(source), show.Style{}) {
		lines = append(lines, show.WrapAnywhere(line, nil, nil, s.width)...)
	}
	return lines
}

// partial is how many bytes of a rune that is not complete a text ends with.
func partial(source []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(source); n++ {
		if c := source[len(source)-n:]; utf8.RuneStart(c[0]) {
			if utf8.FullRune(c) {
				return 0
			}
			return n
		}
	}
	return 0
}

// affords says whether n bytes may be parsed, and counts them.
func (s *Stream) affords(n int) bool {
	if n > cheap && s.parsed+n > again*s.written && !s.ended {
		return false
	}
	s.parsed += n
	return true
}

// block are the lines of a top-level block, behind a blank one if it is not the first. Its
// link definitions go into defined, unless that is nil.
func (s *Stream) block(source []byte, defined map[string]parser.Reference) []show.Line {
	source = slices.Clip(source) // goldmark appends to what it was given.
	c := newContext(s.known)
	root := grammar().full.Parse(text.NewReader(source), parser.WithContext(c))
	r := renderer{source: source, width: s.width, prose: Prose}
	if s.width > 0 {
		r.prose = min(Prose, s.width)
	}
	lines := r.blocks(root, false)
	if defined != nil && len(defined) < maxDefinitions {
		for label, ref := range c.own {
			defined[label] = ref
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if s.begun {
		lines = append([]show.Line{nil}, lines...)
	}
	s.begun = true
	return lines
}

// maxDefinitions is how many link definitions are kept, give or take those of one block.
const maxDefinitions = 1000
