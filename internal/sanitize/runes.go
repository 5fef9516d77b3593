package sanitize

import (
	"unicode"
	"unicode/utf8"
)

const (
	// joiner makes one glyph of the symbols on its two sides.
	joiner = '\u200d'
	// textStyle and emojiStyle choose the look of the symbol before them.
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
)

// hidden says whether a rune must not reach a terminal as it is.
func hidden(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0x300:
		return r == '\u00ad' // soft hyphen, the one format character down here
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // Arabic number signs: formally format characters, but visible
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// blank says whether a rune looks like a space, or like nothing, and is not the space.
func blank(r rune) bool {
	switch r {
	case '\u2800', '\U00016fe4', '\U0001d159': // Of Braille, Khitan, and musical notes.
		return true
	}
	return r != ' ' && unicode.Is(unicode.Zs, r)
}

// symbol says whether a rune is one that emoji are made of. The block is taken
// whole: newer emoji are not in the tables of every Go release. U+FFFD counts as
// none, since it also stands for bytes that are no rune.
func symbol(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff, r == '\u2194':
		return true
	case r == utf8.RuneError:
		return false
	}
	return unicode.Is(unicode.So, r)
}

// takesStyle says whether a variation selector may follow a rune.
func takesStyle(r rune) bool {
	switch r {
	case '#', '*', '\u203c', '\u2049', '\u2139', '\u3030':
		return true
	}
	return r >= '0' && r <= '9' || symbol(r) || unicode.Is(unicode.Sm, r)
}
