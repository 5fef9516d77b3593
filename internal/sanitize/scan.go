package sanitize

import (
	"strconv"
	"unicode/utf8"
)

// scanner is the state on which the meaning of the next rune depends.
type scanner struct {
	oneLine bool
	// exact also escapes what looks like other text.
	exact bool
	// drop omits the characters that would be escaped.
	drop bool
	// prev is the previous rune; 0 at the start and after an escaped rune.
	prev rune
	// size is how many bytes of the previous character are kept.
	size int
	// joins says that a joiner may follow: the previous rune ends a symbol.
	joins bool
	// escaped counts the escaped characters.
	escaped int
}

// append adds the sanitised src to dst. Unless src is final, it returns as rest the bytes
// whose meaning depends on the next ones: part of a rune, a carriage return, a joiner.
func (s *scanner) append(dst, src []byte, final bool) (out, rest []byte) {
	for len(src) > 0 {
		if !final && undecided(src, s.joins) {
			return dst, src
		}
		r, size := utf8.DecodeRune(src)
		switch {
		case r >= 0x20 && r < 0x7f:
			dst = append(dst, byte(r))
			s.prev, s.joins, s.size = r, false, 1
		case r == utf8.RuneError && size == 1:
			dst = s.escape(dst, `\x`, rune(src[0]), 2)
		case r == '\r' && len(src) > 1 && src[1] == '\n':
			// The newline represents both.
		case s.keeps(r, src[size:]):
			dst = append(dst, src[:size]...)
			s.joins = symbol(r) || r == emojiStyle && s.joins
			if !s.exact || !s.belongs(r) {
				s.size = 0
			}
			s.prev, s.size = r, s.size+size
		default:
			dst = s.escapeRune(dst, r)
		}
		src = src[size:]
	}
	return dst, nil
}

// keeps says whether r, followed by next, shows unchanged.
func (s *scanner) keeps(r rune, next []byte) bool {
	switch r {
	case '\n', '\t':
		return !s.oneLine
	case textStyle, emojiStyle:
		return !s.exact && acceptsStyle(s.prev)
	case joiner, nonJoiner:
		after, _ := utf8.DecodeRune(next)
		return !s.exact && (spells(s.prev) || r == joiner && s.joins && symbol(after))
	}
	return !s.hides(r) && !(s.exact && s.unseen(r))
}

// hides says whether r is escaped in any position.
func (s *scanner) hides(r rune) bool { return hidden(r) || s.exact && blank(r) }

func (s *scanner) escapeRune(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		return s.escape(dst, `\n`, 0, 0)
	case r == '\r':
		return s.escape(dst, `\r`, 0, 0)
	case r == '\t':
		return s.escape(dst, `\t`, 0, 0)
	case r < utf8.RuneSelf:
		return s.escape(dst, `\x`, r, 2)
	case r <= 0xffff:
		return s.escape(dst, `\u`, r, 4)
	default:
		return s.escape(dst, `\U`, r, 8)
	}
}

// escape adds prefix and n as hexadecimal of the given width.
func (s *scanner) escape(dst []byte, prefix string, n rune, width int) []byte {
	s.prev, s.joins, s.size = 0, false, 0
	s.escaped++
	if s.drop {
		return dst
	}
	dst = append(dst, prefix...)
	if width == 0 {
		return dst
	}
	var digits [8]byte
	hex := strconv.AppendInt(digits[:0], int64(n), 16)
	for range width - len(hex) {
		dst = append(dst, '0')
	}
	return append(dst, hex...)
}

// undecided says whether more bytes may change how the first rune of src shows.
func undecided(src []byte, joins bool) bool {
	if src[0] == '\r' {
		return len(src) == 1
	}
	if !utf8.FullRune(src) {
		return true
	}
	r, size := utf8.DecodeRune(src)
	return r == joiner && joins && !utf8.FullRune(src[size:])
}

// safePrefix is the length of a prefix of text that certainly stays unchanged.
func (s *scanner) safePrefix(text string) int {
	for i, r := range text {
		switch {
		case r >= 0x20 && r < 0x7f:
		case r == '\n' || r == '\t':
			if s.oneLine {
				return i
			}
		case r == utf8.RuneError || s.hides(r) || s.exact && r >= 0x300:
			return i
		}
	}
	return len(text)
}
