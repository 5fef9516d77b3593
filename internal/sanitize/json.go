package sanitize

import (
	"fmt"
	"strings"
	"unicode"
)

// JSON escapes characters that JSON allows but that control a terminal. They occur in
// strings only, where \u means the same.
func JSON(line string) string {
	risky := func(r rune) bool { return r >= 0x7f && (unicode.IsControl(r) || Line(string(r)) != string(r)) }
	if strings.IndexFunc(line, risky) < 0 {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case !risky(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
