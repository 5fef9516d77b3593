package builtin

import (
	"fmt"
	"strings"
)

// plural is a count with its noun: "1 line", "2 lines", "3 matches".
func plural(n int64, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
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

// countLines counts lines, a last one without a newline included.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
