package sanitize

// Visible is text without what a person would not see, or would see as something else,
// and how much that was: what Terminal shows as an escape is left out. It is valid
// UTF-8. It is for text that goes to a model, which reads what a person does not see.
func Visible(s string) (visible string, left int) {
	sc := scanner{drop: true}
	if sc.safePrefix(s) == len(s) {
		return s, 0
	}
	out, _ := sc.append(nil, []byte(s), true)
	return string(out), sc.escaped
}
