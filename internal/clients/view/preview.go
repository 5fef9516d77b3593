package view

import (
	"strings"

	"podd/internal/clients/show"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// previewLines are what a call would make of a file, or the text of one that it executes, as lines
// of at most columns. With beside, a diff that hides nothing is left out.
func previewLines(p item.Preview, columns int, beside bool) []show.Line {
	var lines []show.Line
	for _, line := range wrap(previewTitle(p), "", wrapMark, columns) {
		lines = append(lines, show.Plain(line, show.Style{Bold: true}))
	}
	if !beside || p.Runs || hiddenInText(p.Diff) > 0 || strings.Contains(p.Diff, "\r") {
		lines = append(lines, show.Proposed(p.Diff, columns)...)
	}
	if p.Omitted != "" {
		for _, line := range wrap("! "+exactLine(p.Omitted), "", wrapMark, columns) {
			lines = append(lines, show.Plain(line, show.Style{Color: show.Yellow}))
		}
	}
	return lines
}

// previewTitle is what happens to a file, in a safe line.
func previewTitle(p item.Preview) string {
	path := exactLine(p.Path)
	switch {
	case p.Runs:
		return "runs " + path
	case p.Deletes:
		return "delete " + path
	case p.MovesTo != "":
		return "move " + path + " to " + exactLine(p.MovesTo)
	case p.Base == item.NoFile:
		return "create " + path
	case p.Diff == "" && p.Omitted == "":
		return "leave " + path + " as it is"
	}
	return "change " + path
}

// hiddenInText counts the characters of a text that are shown as escapes. Carriage returns
// before newlines are not counted.
func hiddenInText(text string) int {
	_, n := sanitize.Exact(strings.ReplaceAll(text, "\r\n", "\n"))
	return n
}

// indentedBy puts an indentation before lines.
func indentedBy(by string, lines []show.Line) []show.Line {
	for i, line := range lines {
		lines[i] = show.With(show.Plain(by, show.Style{}), line)
	}
	return lines
}
