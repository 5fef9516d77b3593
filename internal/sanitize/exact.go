package sanitize

// Exact is text as it is shown to a person who decides on it, and how much of it shows as an
// escape: as Terminal, and a character that looks like a space and is not one is escaped too.
// The count says what the text can't: an escape can also stand in it by itself.
func Exact(s string) (shown string, escaped int) {
	sc := scanner{exact: true}
	if sc.safePrefix(s) == len(s) {
		return s, 0
	}
	out, _ := sc.append(nil, []byte(s), true)
	return string(out), sc.escaped
}
