package view

import (
	"bytes"
	"encoding/json"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
)

// argument is one argument of a call: the decoded text of a string, or the JSON of
// anything else.
type argument struct{ name, text string }

// arguments splits the arguments of a call, in their order. JSON that is not an object is
// one argument without a name.
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

// hiddenIn counts the characters of arguments that are shown as escapes, in names and in
// decoded text.
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

// The marks before a line of an argument, and before its continuation lines.
const (
	lineMark = "| "
	wrapMark = "↳ "
)

// argumentLines shows arguments completely, as safe lines of at most columns; 0 means
// lines of any length. Hidden characters are shown as escapes, and each line begins with a
// mark, so that no text can imitate another.
func argumentLines(raw string, columns int) []string {
	var lines []string
	for _, a := range arguments(raw) {
		name := ""
		if a.name != "" {
			name = exactLine(a.name) + ":"
		}
		text := strings.Split(a.text, "\n")
		if one := exactLine(text[0]); len(text) == 1 && name != "" && one != "" && (columns < 1 || cells.Width(name+" "+one) <= columns) {
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

// exactLine is a line in which invisible characters and unusual spaces are escapes.
func exactLine(text string) string {
	shown, _ := sanitize.Exact(text)
	return sanitize.Line(shown)
}

// Arguments shows the arguments of a call completely, as safe lines of at most columns.
func Arguments(raw string, columns int) []string { return argumentLines(raw, columns) }

// wrap cuts a safe line into lines of at most columns, including their marks: first for
// the first line, rest for the others.
func wrap(line, first, rest string, columns int) []string {
	if columns < 1 {
		return []string{first + line}
	}
	// A very narrow terminal wraps lines by itself rather than lose words.
	room := max(columns-len(lineMark), minRoom)
	var out []string
	for head := ""; len(out) == 0 || line != ""; first = rest {
		head, line = cells.Split(line, room, true)
		out = append(out, first+head)
	}
	return out
}

const minRoom = 10
