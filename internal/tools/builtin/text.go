package builtin

import (
	"strconv"
	"strings"
)

// plural is a count with its noun: "1 line", "2 lines", "3 matches".
func plural(n int64, noun string) string { return strconv.FormatInt(n, 10) + " " + nounOf(n, noun) }

// grouped is plural with a comma after each three digits: "1,342 matches".
func grouped(n int64, noun string) string {
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

// shorten is the start of a text on one line.
func shorten(text string, runes int) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(first); len(r) > runes {
		first, more = string(r[:runes]), true
	}
	if more {
		return first + "…"
	}
	return first
}

// countLines counts lines, including a last one without a newline.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
