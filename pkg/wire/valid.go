package wire

import "strings"

// Valid is a text that a message may have: paths and names on a disk need not be UTF-8.
func Valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// ValidAll are texts that a message may have.
func ValidAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Valid(text)
	}
	return out
}
