package sanitize

import (
	"unicode"
	"unicode/utf8"
)

// mostCharacter is how many bytes of one character show: terminals draw them all in one place, and
// tmux 3.3 drops more.
const mostCharacter = 21

// skinTones colour the emoji before them.
var skinTones = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0x1f3fb, Hi: 0x1f3ff, Stride: 1}}}

// linking are the marks that join the letters on their two sides: viramas and the like.
var linking = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x94d, Hi: 0x94d, Stride: 1}, {Lo: 0x9cd, Hi: 0xacd, Stride: 0x100}, {Lo: 0xb4d, Hi: 0xd4d, Stride: 0x100},
		{Lo: 0x1039, Hi: 0x1039, Stride: 1}, {Lo: 0x17d2, Hi: 0x17d2, Stride: 1}, {Lo: 0x1a60, Hi: 0x1a60, Stride: 1},
		{Lo: 0x1b44, Hi: 0x1b44, Stride: 1}, {Lo: 0x1bab, Hi: 0x1bab, Stride: 1}, {Lo: 0xa9c0, Hi: 0xa9c0, Stride: 1}, {Lo: 0xaaf6, Hi: 0xaaf6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10a3f, Hi: 0x10a3f, Stride: 1}, {Lo: 0x11133, Hi: 0x11133, Stride: 1}, {Lo: 0x1193e, Hi: 0x1193e, Stride: 1},
		{Lo: 0x11a47, Hi: 0x11a47, Stride: 1}, {Lo: 0x11a99, Hi: 0x11a99, Stride: 1}, {Lo: 0x11f42, Hi: 0x11f42, Stride: 1},
	},
}

// leading are the runes that are drawn in one place with the character after them.
var leading = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x600, Hi: 0x605, Stride: 1}, {Lo: 0x6dd, Hi: 0x6dd, Stride: 1}, {Lo: 0x70f, Hi: 0x70f, Stride: 1},
		{Lo: 0x890, Hi: 0x891, Stride: 1}, {Lo: 0x8e2, Hi: 0x8e2, Stride: 1}, {Lo: 0xd4e, Hi: 0xd4e, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x110bd, Hi: 0x110cd, Stride: 0x10}, {Lo: 0x111c2, Hi: 0x111c3, Stride: 1}, {Lo: 0x113d1, Hi: 0x113d1, Stride: 1},
		{Lo: 0x1193f, Hi: 0x11941, Stride: 2}, {Lo: 0x11a84, Hi: 0x11a89, Stride: 1}, {Lo: 0x11d46, Hi: 0x11d46, Stride: 1}, {Lo: 0x11f02, Hi: 0x11f02, Stride: 1},
	},
}

// unseen says whether a person who decides on a text could not tell that it has r, for the runes
// before it.
func (s *scanner) unseen(r rune) bool {
	switch part := jamo(r); {
	case !unicode.IsGraphic(r) && !symbol(r), unicode.Is(leading, r):
		return true // What has no glyph looks like any other.
	case unicode.Is(skinTones, r):
		return !symbol(s.prev) || unicode.Is(skinTones, s.prev)
	case part == 'L':
		return jamo(s.prev) == 'L'
	case part == 'V':
		return jamo(s.prev) != 'L'
	case part == 'T':
		return jamo(s.prev) != 'V' && (s.prev < 0xac00 || s.prev > 0xd7a3 || (s.prev-0xac00)%28 != 0)
	case !s.belongs(r):
		return false
	}
	// Without a character it changes a space or an escape; twice in a row it looks like once.
	return s.prev <= ' ' || s.prev == r || s.size+utf8.RuneLen(r) > mostCharacter
}

// belongs says whether r is drawn in the place of the character before it.
func (s *scanner) belongs(r rune) bool {
	return unicode.In(r, unicode.M, unicode.Other_Grapheme_Extend, skinTones) || jamo(r) > 'L' ||
		r == '\u0e33' || r == '\u0eb3' || // Thai and Lao am.
		unicode.Is(linking, s.prev) && unicode.IsLetter(r)
}

// jamo is which part of a Hangul syllable a rune is, if it is one: a leading consonant, a vowel or
// a trailing consonant.
func jamo(r rune) byte {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0xa960 && r <= 0xa97c:
		return 'L'
	case r >= 0x1160 && r <= 0x11a7, r >= 0xd7b0 && r <= 0xd7c6:
		return 'V'
	case r >= 0x11a8 && r <= 0x11ff, r >= 0xd7cb && r <= 0xd7fb:
		return 'T'
	}
	return 0
}

// joinable are the scripts in which a joiner or a non-joiner belongs to the spelling of a word.
var joinable = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer,
}

// spells says whether a joiner may follow r in a word.
func spells(r rune) bool {
	return r >= 0x600 && unicode.In(r, joinable...) && (unicode.IsLetter(r) || unicode.IsMark(r))
}
