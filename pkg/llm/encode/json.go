package encode

import (
	"unicode/utf8"

	"podd/pkg/item"
)

const hexDigits = "0123456789abcdef"

// plain are the bytes that need no escape in a JSON string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\'
	}
	return t
}()

// String appends s as a JSON string.
func String(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = Escaped(dst, s)
	return append(dst, '"')
}

// Escaped appends s as the inside of a JSON string. Invalid UTF-8 becomes U+FFFD,
// because endpoints refuse it. HTML is not escaped.
func Escaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// Output appends a tool's answer: Output.Text, without a copy of it.
func Output(dst []byte, o item.Output) []byte {
	dst = append(dst, '"')
	dst = Escaped(dst, o.Summary)
	if o.Content != "" {
		dst = append(dst, `\n`...)
		dst = Escaped(dst, o.Content)
	}
	return append(dst, '"')
}

// Member appends a comma and a string member of an object.
func Member(dst []byte, name, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return String(dst, value)
}
