package attach

import (
	"slices"
	"strings"

	"podd/internal/clients/markdown"
)

// answer is the Markdown of an answer that may still grow: what is final is parsed once.
type answer struct {
	stream *markdown.Stream
	// text has been written to the stream, for columns.
	text    string
	columns int
	final   []line
}

// lay gives the lines of an answer.
func (a *answer) lay(text string, live bool, columns int) []line {
	if a.stream == nil || a.columns != columns || !strings.HasPrefix(text, a.text) {
		*a = answer{stream: markdown.NewStream(columns), columns: columns}
	}
	a.stream.Write(text[len(a.text):])
	a.text = text
	if !live {
		a.stream.End()
		lines := append(a.final, a.stream.Final()...)
		*a = answer{} // It does not grow any more.
		return lines
	}
	a.final = append(a.final, a.stream.Final()...)
	return append(slices.Clip(a.final), a.stream.Tail()...)
}
