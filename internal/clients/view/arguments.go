package view

import (
	"bytes"
	"encoding/json"
	"strings"

	"podd/internal/sanitize"
)

// argument is one argument of a call. A string stands as the text that it means,
// anything else as its JSON.
type argument struct{ name, text string }

// arguments takes the arguments of a call apart, in their order. What is no object
// is one argument without a name.
func arguments(raw string) []argument {
	d := json.NewDecoder(strings.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return []argument{{"", raw}}
	}
	var list []argument
	for d.More() {
		name, err := d.Token()
		key, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return []argument{{"", raw}}
		}
		list = append(list, argument{key, meaning(value)})
	}
	if _, err := d.Token(); err != nil || d.More() {
		return []argument{{"", raw}}
	}
	return list
}

// hiddenIn counts the characters of arguments that show as escapes, a text that is
// one line in its JSON aside.
func hiddenIn(raw string) int {
	n := 0
	for _, a := range arguments(raw) {
		_, inName := sanitize.Exact(a.name)
		_, inText := sanitize.Exact(a.text)
		n += inName + inText
	}
	return n
}

func meaning(value json.RawMessage) string {
	var text string
	if bytes.HasPrefix(value, []byte(`"`)) && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// The marks before a line of an argument, and before what of it goes on below.
const (
	lineMark = "| "
	wrapMark = "↳ "
)

// argumentLines shows arguments whole, as safe lines of at most so many columns; 0
// columns: lines of any length. What is hidden or would not be seen shows as an
// escape, and only the marks begin lines, so that no text can pass for another's.
func argumentLines(raw string, columns int) []string {
	var lines []string
	for _, a := range arguments(raw) {
		name := ""
		if a.name != "" {
			name = exactLine(a.name) + ":"
		}
		text := strings.Split(a.text, "\n")
		if one := exactLine(text[0]); len(text) == 1 && name != "" && one != "" && (columns < 1 || fits(name+" "+one, columns)) {
			lines = append(lines, name+" "+one)
			continue
		}
		if name != "" {
			lines = append(lines, wrap(name, "", wrapMark, columns)...)
		}
		for _, line := range text {
			lines = append(lines, wrap(exactLine(line), lineMark, wrapMark, columns)...)
		}
	}
	return lines
}

// exactLine is a line that shows what would not be seen, or would pass for a space.
func exactLine(text string) string {
	shown, _ := sanitize.Exact(text)
	return sanitize.Line(shown)
}

// Arguments shows the arguments of a call whole, as safe lines of at most so many
// columns.
func Arguments(raw string, columns int) []string { return argumentLines(raw, columns) }

// wrap cuts a safe line into lines of at most so many columns, their marks included.
// The first gets one mark, those that go on the other.
func wrap(line, first, rest string, columns int) []string {
	if columns < 1 {
		return []string{first + line}
	}
	// A terminal that is too narrow for words is not worth their loss.
	room := max(columns-len(lineMark), minRoom)
	var out []string
	begin, used := 0, 0
	for i, r := range line {
		if used+RuneWidth(r) > room {
			out = append(out, first+line[begin:i])
			begin, used, first = i, 0, rest
		}
		used += RuneWidth(r)
	}
	return append(out, first+line[begin:])
}

const minRoom = 10

// fits says whether text needs at most so many columns.
func fits(text string, columns int) bool {
	used := 0
	for _, r := range text {
		used += RuneWidth(r)
	}
	return used <= columns
}
