package exchange

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Members reads the value at the beginning of text, which is valid JSON, in one pass. It
// calls each for each member of an object and each element of a list, which has no name,
// with the text from its value on. each returns what follows that value: see Value. So does
// Members.
func Members(text string, each func(name, text string) string) string {
	text = space(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		_, text = Value(text)
		return text
	}
	object := text[0] == '{'
	for text = space(text[1:]); text != "" && text[0] != '}' && text[0] != ']'; {
		name := ""
		if object {
			name, text = Value(text)
			name = unquoted(name)
			text = space(strings.TrimPrefix(space(text), ":"))
		}
		text = space(each(name, text))
		text = space(strings.TrimPrefix(text, ","))
	}
	return text[min(1, len(text)):]
}

// Value splits text into the value at its beginning and what follows.
func Value(text string) (value, rest string) {
	if text != "" && text[0] == '"' {
		end := stringEnd(text, 0)
		return text[:end], text[end:]
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return text[:i], text[i:]
			}
			continue
		default:
			continue
		}
		if depth < 0 {
			return text[:i], text[i:] // It closes what the value is in.
		}
		if depth == 0 {
			return text[:i+1], text[i+1:]
		}
	}
	return text, ""
}

// stringEnd is the index behind the JSON string that begins at i.
func stringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}

// unquoted is the text of a JSON string.
func unquoted(raw string) string {
	if len(raw) < 2 || strings.IndexByte(raw, '\\') >= 0 {
		return gjson.Parse(raw).Str
	}
	return raw[1 : len(raw)-1]
}

// space is text without white space at its beginning.
func space(text string) string {
	for text != "" && text[0] <= ' ' {
		text = text[1:]
	}
	return text
}
