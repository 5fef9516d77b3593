package tool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"podd/pkg/item"
)

// maxFirstLine bounds how much of a long string's first line its summary shows, in runes.
const maxFirstLine = 80

// FromString makes an output from a plain string. Up to MaxSummaryBytes it is the
// summary, without content. A longer one is the content, under the summary "N lines |
// FIRST LINE…".
func FromString(s string) Output {
	if escaped := escapeControls(s); len(escaped) <= item.MaxSummaryBytes {
		return Output{Summary: escaped}
	}
	first, _, _ := strings.Cut(s, "\n")
	first = strings.TrimSuffix(first, "\r")
	runes := 0
	for i := range first {
		if runes == maxFirstLine {
			first = first[:i]
			break
		}
		runes++
	}
	return Output{
		Summary: Bound(fmt.Sprintf("%d lines | %s…", CountLines(s), first)),
		Content: s,
	}
}

// Error is the output of a failure that the model should see. The message is one sentence
// that says what to do instead; if it is too long for a summary, the content has all of
// it.
func Error(format string, args ...any) Output {
	message := fmt.Sprintf(format, args...)
	out := Output{Summary: Bound(message), IsError: true}
	if out.Summary != escapeControls(message) {
		out.Content = message
	}
	return out
}

// Bound makes a text a valid summary: it escapes control characters except newline and
// tab, and bytes that are not UTF-8. It cuts what is longer than MaxSummaryBytes between
// runes, with "…" at the end.
func Bound(summary string) string {
	summary = escapeControls(summary)
	if len(summary) <= item.MaxSummaryBytes {
		return summary
	}
	const mark = "…"
	return cutHead(summary, item.MaxSummaryBytes-len(mark)) + mark
}

func escapeControls(s string) string {
	clean := utf8.ValidString(s) && !strings.ContainsFunc(s, mustEscape)
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1, r < utf8.RuneSelf && mustEscape(r):
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case mustEscape(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

func mustEscape(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t'
}
