package sanitize

// Visible is text without what a person would not see, or would see as something else,
// and the amount of that: it omits what Terminal escapes. The result is valid UTF-8. It
// is for text for a model, which also reads what a person does not see.
func Visible(s string) (visible string, left int) {
	sc := scanner{drop: true}
	if sc.safePrefix(s) == len(s) {
		return s, 0
	}
	out, _ := sc.append(nil, []byte(s), true)
	return string(out), sc.escaped
}
