package wire

import (
	"strings"
	"unicode/utf8"
)

// clean is s with each run of invalid bytes replaced by U+FFFD. Valid text, the
// usual case, is returned as it is and costs no allocation.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// cleanAll is clean for each of list, which is not changed.
func cleanAll(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}
