package sanitize

import "strings"

// Word is s as one word of a shell command that a person may copy: as it is if no shell takes it
// for more, else in single quotes. It is not safe to show by that.
func Word(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
