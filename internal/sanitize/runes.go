package sanitize

import (
	"unicode"
	"unicode/utf8"
)

const (
	// joiner makes one glyph of the symbols on its two sides.
	joiner = '\u200d'
	// nonJoiner keeps the letters on its two sides apart.
	nonJoiner = '\u200c'
	// textStyle and emojiStyle choose the look of the symbol before them.
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
)

// hidden says whether a rune must not reach a terminal unescaped.
func hidden(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0x300:
		return r == '\u00ad' // soft hyphen, the only format character below U+0300
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // Arabic number signs: formally format characters, but visible
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// blank says whether a rune looks like a space, or like nothing, but is not the space.
func blank(r rune) bool {
	switch r {
	case '\u2800', '\U00016fe4', '\U0001d159': // Of Braille, Khitan, and musical notes.
		return true
	}
	return r != ' ' && unicode.Is(unicode.Zs, r)
}

// symbol says whether emoji are made of a rune. It includes the whole block, because the
// tables of older Go releases lack newer emoji. It excludes U+FFFD, which also represents
// invalid bytes.
func symbol(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff, r == '\u2194':
		return true
	case r == utf8.RuneError:
		return false
	}
	return unicode.Is(unicode.So, r)
}

// acceptsStyle says whether a variation selector may follow a rune.
func acceptsStyle(r rune) bool {
	switch r {
	case '#', '*', '\u203c', '\u2049', '\u2139', '\u3030':
		return true
	}
	return r >= '0' && r <= '9' || symbol(r) || unicode.Is(unicode.Sm, r)
}
