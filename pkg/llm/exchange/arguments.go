package exchange

import (
	"encoding/json"
	"strings"
)

// Arguments is the one value that a call's arguments mean. Some endpoints send a value that
// is whole, such as {}, null or "", before the real arguments or after them: the last one
// with content counts. Anything but a sequence of such values stays as it is.
func Arguments(s string) string {
	last, at := "", 0
	dec := json.NewDecoder(strings.NewReader(s))
	for n := 0; ; n++ {
		rest := strings.TrimSpace(s[at:])
		if n > 1 && rest == "" {
			return last
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			if n > 0 && IsEmpty(last) && strings.HasPrefix(rest, "{") {
				return rest // The real arguments are malformed.
			}
			return s
		}
		at = int(dec.InputOffset())
		if text := string(value); last == "" || !IsEmpty(text) {
			last = text
		}
		if last[0] != '{' && !IsEmpty(last) {
			return s
		}
	}
}

// IsEmpty says whether arguments have no content.
func IsEmpty(s string) bool {
	switch s = strings.TrimSpace(s); s {
	case "", "null", `""`:
		return true
	}
	return s[0] == '{' && s[len(s)-1] == '}' && strings.TrimSpace(s[1:len(s)-1]) == ""
}

// maxReason bounds a reason to stop, in bytes.
const maxReason = 40

// Reason is why a model stopped, after the name of the member that says so; empty for what
// is no word.
func Reason(member, value string) string {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.: ", r)
	}
	if value == "" || len(value) > maxReason || strings.ContainsFunc(value, odd) {
		return ""
	}
	return member + " " + value
}
