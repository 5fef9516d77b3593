package tool

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plural is a count with its noun: "1 line", "2 lines", "3 matches".
func Plural(n int64, noun string) string { return strconv.FormatInt(n, 10) + " " + nounOf(n, noun) }

// Grouped is Plural with a comma after each three digits: "1,342 matches".
func Grouped(n int64, noun string) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + nounOf(n, noun)
}

func nounOf(n int64, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "ch"):
		return noun + "es"
	case strings.HasSuffix(noun, "y"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

// Shorten is the start of a text on one line.
func Shorten(text string, runes int) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(first); len(r) > runes {
		first, more = string(r[:runes]), true
	}
	if more {
		return first + "…"
	}
	return first
}

// Clip is a text of at most the given number of bytes, with a mark at its end if it is cut.
func Clip(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	return cutHead(text, most-len(mark)) + mark
}

// CountLines counts lines, including a last one without a newline.
func CountLines(s string) int64 {
	n := int64(strings.Count(s, "\n"))
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// Unfinished is the length of the incomplete rune that p ends in.
func Unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if start := p[len(p)-n]; utf8.RuneStart(start) {
			if start >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
