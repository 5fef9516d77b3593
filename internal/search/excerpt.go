package search

import (
	"strings"
	"unicode/utf8"
)

// Excerpt is a line of text around a match.
type Excerpt struct {
	Text string
	// Start and End are the match in Text, in bytes.
	Start, End int
}

// How much text is shown, in bytes.
const (
	excerptBefore = 32
	excerptMatch  = 96
	excerptAfter  = 64
)

// excerpt is the line around a match. White space becomes single blanks.
func excerpt(text string, start, end int) Excerpt {
	before, cutBefore := lastOf(text[:start], excerptBefore)
	match, cutMatch := firstOf(text[start:end], excerptMatch)
	after, cutAfter := firstOf(text[end:], excerptAfter)
	if cutMatch {
		after, cutAfter = "", true
	}
	before, match, after = blanks(before), blanks(match), blanks(after)
	before = strings.TrimLeft(before, " ")
	if cutBefore {
		before = "…" + before
	}
	after = strings.TrimRight(after, " ")
	if cutAfter {
		after += "…"
	}
	return Excerpt{Text: before + match + after, Start: len(before), End: len(before) + len(match)}
}

func firstOf(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}

func lastOf(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	from := len(text) - most
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:], true
}

// blanks is text with a blank in place of each piece of white space.
func blanks(text string) string {
	words := strings.Fields(text)
	out := strings.Join(words, " ")
	if len(words) == 0 {
		if text != "" {
			return " "
		}
		return ""
	}
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune(" \t\r\n\v\f\u0085\u00a0", first) {
		out = " " + out
	}
	if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(" \t\r\n\v\f\u0085\u00a0", last) {
		out += " "
	}
	return out
}
