package sanitize

// Terminal is s made safe to show; newlines and tabs stay. Safe text is returned
// unchanged, without an allocation. The result is valid UTF-8, and sanitising it again
// changes nothing.
func Terminal(s string) string { return whole(s, false) }

// Line is s made safe to show in one line: like Terminal, with a newline as \n and a tab
// as \t.
func Line(s string) string { return whole(s, true) }

func whole(s string, oneLine bool) string {
	sc := scanner{oneLine: oneLine}
	if sc.safePrefix(s) == len(s) {
		return s
	}
	out, _ := sc.append(make([]byte, 0, len(s)+len(s)/8+16), []byte(s), true)
	return string(out)
}
