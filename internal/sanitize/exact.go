package sanitize

// Exact is text for a person who decides on it, and the number of escaped characters. It
// escapes what Terminal escapes, and also what such a person could not tell from other text on
// some terminal: characters that look like a space, joiners, styles of emoji, marks without a
// character of their own or too many on one. The count tells real escapes from escapes that are
// literally in the text.
func Exact(s string) (shown string, escaped int) {
	sc := scanner{exact: true}
	if sc.safePrefix(s) == len(s) {
		return s, 0
	}
	out, _ := sc.append(nil, []byte(s), true)
	return string(out), sc.escaped
}
