package search

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle is literal text to be found in any case: two characters are equal if they fold to
// one another (unicode.SimpleFold) and both are ASCII, or both are not: a Kelvin sign is no k.
type needle struct {
	// runes is the text, folded.
	runes []rune
	probe
	// escapes says that JSON may have the text in another form. plain is the longest piece that
	// always looks the same; nil if there is none.
	escapes bool
	plain   *needle
}

// newNeedle prepares text, which is not empty.
func newNeedle(text string) *needle {
	n := &needle{}
	for _, r := range text {
		n.runes = append(n.runes, fold(r))
	}
	n.probe = bestProbe(n.runes)
	longest := ""
	for _, piece := range strings.FieldsFunc(text, escaped) {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	if n.escapes = len(longest) < len(text); n.escapes && longest != "" {
		n.plain = newNeedle(longest)
	}
	return n
}

// escaped says whether some writers of JSON escape a character within a string. No writer
// escapes the others.
func escaped(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune("\"\\/<>&'", r)
}

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

// find is the first occurrence in text, as byte offsets.
func (n *needle) find(text []byte) (start, end int, ok bool) {
	for from := 0; ; from++ {
		if from = n.next(text, from); from < 0 {
			return 0, 0, false
		}
		if start, end, ok = n.matches(text, from); ok {
			return start, end, true
		}
	}
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

// maybeIn says whether a stored entry may have the needle in one of its texts.
func (n *needle) maybeIn(entry []byte) bool {
	if _, _, ok := n.find(entry); ok {
		return true
	}
	return n.escapes && bytes.IndexByte(entry, '\\') >= 0 && (n.plain == nil || n.plain.maybeIn(entry))
}
