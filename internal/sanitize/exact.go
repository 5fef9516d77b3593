package sanitize

// Exact is text for a person who decides on it, and the number of escaped characters. It
// escapes what Terminal escapes, and also characters that only look like a space. The
// count tells real escapes from escapes that are literally in the text.
func Exact(s string) (shown string, escaped int) {
	sc := scanner{exact: true}
	if sc.safePrefix(s) == len(s) {
		return s, 0
	}
	out, _ := sc.append(nil, []byte(s), true)
	return string(out), sc.escaped
}
