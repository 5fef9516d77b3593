package search

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// needle is literal text to be found in any case: two characters are equal if they fold to
// one another (unicode.SimpleFold) and both are ASCII, or both are not: a Kelvin sign is no k.
type needle struct {
	// runes is the text, folded.
	runes []rune
	// at is its rarest rune, forms are what is equal to that.
	at    int
	forms [][]byte
	// escapes says that JSON may have the text in another form. Even then it has plain, its
	// longest piece without escaped characters, as it is; and long, the longest without briefly
	// escaped ones, unless it has one of units. Each is nil if no piece is left.
	escapes     bool
	plain, long *needle
	// units are the escaped characters of long, as numbers in UTF-16.
	units map[uint16]bool
}

// newNeedle prepares text, which is not empty.
func newNeedle(text string) *needle {
	n := literal(text)
	if n.escapes = strings.ContainsFunc(text, escaped); !n.escapes {
		return n
	}
	n.plain, n.long = longest(text, escaped), longest(text, briefly)
	if n.long == nil {
		return n
	}
	n.units = make(map[uint16]bool)
	for _, r := range n.long.runes {
		for _, form := range variants(r) {
			if escaped(r) {
				n.units[utf16.Encode([]rune(string(form)))[0]] = true
			}
		}
	}
	return n
}

// longest is the longest piece of text between some characters.
func longest(text string, between func(rune) bool) *needle {
	most := ""
	for piece := range strings.FieldsFuncSeq(text, between) {
		if len(piece) > len(most) {
			most = piece
		}
	}
	if most == "" {
		return nil
	}
	return literal(most)
}

// literal is a needle that has no other form.
func literal(text string) *needle {
	n := &needle{}
	rarest := -1
	for i, r := range []rune(text) {
		n.runes = append(n.runes, fold(r))
		if rare := rarity(r); rare > rarest {
			n.at, n.forms, rarest = i, variants(r), rare
		}
	}
	return n
}

// common are the characters of code and prose, the most common first.
const common = " etaoinsrlcdpumfghb\n\t_.,()y\"vw-=:/kxS01CETAIPFRNDMLBOjq[]{}2*U;GHVWz'83"

// rarity is greater the less often texts have a character in one of its forms.
func rarity(r rune) int {
	rare := len(common)
	for _, form := range variants(r) {
		if i := strings.Index(common, string(form)); i >= 0 {
			rare = min(rare, i)
		}
	}
	return rare
}

// escaped says whether some writers of JSON escape a character within a string. No writer
// escapes the others.
func escaped(r rune) bool { return briefly(r) || r > '~' || strings.ContainsRune("<>&'", r) }

// briefly says whether JSON has an escape for a character other than \u.
func briefly(r rune) bool { return r < ' ' || strings.ContainsRune(`"\/`, r) }

// fold is the least of the characters that are equal to r.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			return r - ('a' - 'A')
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		if next >= utf8.RuneSelf {
			least = min(least, next)
		}
	}
	return least
}

// variants are the characters that are equal to r, in UTF-8.
func variants(r rune) [][]byte {
	forms := [][]byte{utf8.AppendRune(nil, r)}
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		if (next < utf8.RuneSelf) == (r < utf8.RuneSelf) {
			forms = append(forms, utf8.AppendRune(nil, next))
		}
	}
	return forms
}

// find is an occurrence in text, as byte offsets: the first one.
func (n *needle) find(text []byte) (start, end int, ok bool) {
	// Where the next of each form is. A character has at most four.
	var next [4]int
	for i, form := range n.forms {
		next[i] = indexFrom(text, form, 0)
	}
	for {
		first := 0
		for i := range n.forms {
			if next[i] < next[first] {
				first = i
			}
		}
		at := next[first]
		if at == len(text) {
			return 0, 0, false
		}
		if start, end, ok = n.matches(text, at); ok {
			return start, end, true
		}
		next[first] = indexFrom(text, n.forms[first], at+1)
	}
}

// indexFrom is the first place of form in text from an offset on; the end of text without one.
func indexFrom(text, form []byte, from int) int {
	if i := bytes.Index(text[from:], form); i >= 0 {
		return from + i
	}
	return len(text)
}

// matches says whether the needle is in text with its rune at at offset i.
func (n *needle) matches(text []byte, i int) (start, end int, ok bool) {
	start, end = i, i
	for k := n.at - 1; k >= 0; k-- {
		r, size := utf8.DecodeLastRune(text[:start])
		if size == 0 || fold(r) != n.runes[k] || r == utf8.RuneError && size == 1 {
			return 0, 0, false
		}
		start -= size
	}
	for k := n.at; k < len(n.runes); k++ {
		r, size := utf8.DecodeRune(text[end:])
		if size == 0 || fold(r) != n.runes[k] || r == utf8.RuneError && size == 1 {
			return 0, 0, false
		}
		end += size
	}
	return start, end, true
}

// isIn says whether a stored entry has the needle as it is: in a text, or across two.
func (n *needle) isIn(entry []byte) bool {
	_, _, ok := n.find(entry)
	return ok
}

// maybeEscaped says whether JSON in a stored entry, which does not have the needle as it is,
// may have it in another form.
func (n *needle) maybeEscaped(entry []byte) bool {
	switch {
	case !n.escapes, n.plain != nil && !n.plain.isIn(entry):
		return false
	case n.long == nil:
		return bytes.IndexByte(entry, '\\') >= 0
	}
	whole := len(n.long.runes) == len(n.runes)
	return !whole && n.long.isIn(entry) || n.hasUnit(entry)
}

// hasUnit says whether JSON has one of the units.
func (n *needle) hasUnit(entry []byte) bool {
	for {
		_, rest, found := bytes.Cut(entry, []byte(`\u`))
		if !found {
			return false
		}
		entry = rest
		unit, err := strconv.ParseUint(string(entry[:min(len(entry), 4)]), 16, 16)
		if err == nil && n.units[uint16(unit)] {
			return true
		}
	}
}
