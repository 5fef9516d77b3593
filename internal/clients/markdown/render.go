package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"

	"podd/internal/clients/cells"
	"podd/internal/clients/highlight"
	"podd/internal/clients/show"
)

// renderer makes lines of a parsed text.
type renderer struct {
	source []byte
	// width and prose are how wide lines may be; below 1 there is no limit.
	width, prose int
}

// inside is a renderer for lines that begin with a prefix.
func (r renderer) inside(prefix int) renderer {
	if r.width > 0 {
		r.width = max(r.width-prefix, narrow)
	}
	r.prose = max(r.prose-prefix, narrow)
	return r
}

// narrow is the least width of what is in containers, in columns.
const narrow = 12

// blocks are the lines of the blocks in a container, with blank lines between them unless
// they stand tight.
func (r renderer) blocks(parent ast.Node, tight bool) (lines []show.Line) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := r.block(n)
		if len(block) == 0 {
			continue
		}
		if len(lines) > 0 && !tight {
			lines = append(lines, nil)
		}
		lines = append(lines, block...)
	}
	return lines
}

func (r renderer) block(n ast.Node) []show.Line {
	switch n := n.(type) {
	case *ast.Heading:
		return r.text(n, heading(n.Level))
	case *ast.Blockquote:
		return prefixed(r.inside(2).blocks(n, false), bar, bar)
	case *ast.List:
		return r.list(n)
	case *ast.ThematicBreak:
		return []show.Line{show.Plain(strings.Repeat("─", max(3, min(r.prose, 40))), dim)}
	case *ast.FencedCodeBlock:
		return r.code(string(n.Language(r.source)), n)
	case *ast.CodeBlock:
		return r.code("", n)
	case *ast.HTMLBlock:
		return r.html(n)
	case *ast.LinkReferenceDefinition:
		return nil
	case *table:
		return r.table(n)
	}
	return r.text(n, show.Style{})
}

var (
	dim = show.Style{Dim: true}
	bar = show.Plain("│ ", dim)
)

func heading(level int) show.Style {
	return show.Style{Bold: true, Underline: level == 1, Italic: level > 2}
}

// text are the lines of running text.
func (r renderer) text(n ast.Node, st show.Style) (lines []show.Line) {
	for _, line := range r.inline(n, st) {
		lines = append(lines, show.Wrap(line, nil, nil, r.prose)...)
	}
	return lines
}

// prefixed puts first before the first line and rest before the others.
func prefixed(lines []show.Line, first, rest show.Line) []show.Line {
	if len(lines) == 0 {
		return []show.Line{first}
	}
	for i, line := range lines {
		if len(line) > 0 || !first.Blank() {
			lines[i] = show.With(first, line)
		}
		first = rest
	}
	return lines
}

func (r renderer) list(l *ast.List) (lines []show.Line) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, l.Marker)
			number++
		}
		if len(lines) > 0 && !l.IsTight {
			lines = append(lines, nil)
		}
		room := cells.Width(mark)
		rest := show.Plain(strings.Repeat(" ", room), show.Style{})
		lines = append(lines, prefixed(r.inside(room).blocks(item, l.IsTight), show.Plain(mark, dim), rest)...)
	}
	return lines
}

// codeIndent begins each line of code.
var codeIndent = show.Plain("  ", show.Style{})

// code are the lines of code in a language; "" means no language.
func (r renderer) code(language string, n ast.Node) (lines []show.Line) {
	code := r.raw(n)
	for _, line := range colored(language, strings.TrimRight(code, "\n")) {
		if len(line) == 0 {
			lines = append(lines, nil)
			continue
		}
		lines = append(lines, show.WrapAnywhere(line, codeIndent, codeIndent, r.width)...)
	}
	return lines
}

// html is HTML as the text that it is.
func (r renderer) html(n *ast.HTMLBlock) (lines []show.Line) {
	text := r.raw(n)
	if n.HasClosure() {
		text += string(n.ClosureLine.Value(r.source))
	}
	for _, line := range show.Text(strings.TrimRight(text, "\n"), show.Style{}) {
		lines = append(lines, show.WrapAnywhere(line, nil, nil, r.width)...)
	}
	return lines
}

// raw is the text of a block that has no inlines.
func (r renderer) raw(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	return b.String()
}

// kinds are how the tokens of code look.
var kinds = map[highlight.Kind]show.Style{
	highlight.Comment: {Dim: true, Italic: true},
	highlight.String:  {Color: show.Green},
	highlight.Keyword: {Color: show.Magenta},
	highlight.Number:  {Color: show.Yellow},
}

// colored are the lines of code with the colours of its language.
func colored(language, code string) []show.Line {
	if language == "diff" || language == "patch" {
		return changes(code)
	}
	lines := []show.Line{nil}
	for _, token := range highlight.Code(language, code) {
		for i, line := range show.Text(token.Text+"\n", kinds[token.Kind]) {
			if i > 0 {
				lines = append(lines, nil)
			}
			last := len(lines) - 1
			lines[last] = append(lines[last], line...)
		}
	}
	return lines
}

// changes are the lines of a diff.
func changes(diff string) []show.Line {
	lines := show.Text(diff, show.Style{})
	for i, line := range lines {
		text := line.String()
		switch {
		case strings.HasPrefix(text, "+"):
			lines[i] = line.In(show.Style{Color: show.Green})
		case strings.HasPrefix(text, "-"):
			lines[i] = line.In(show.Style{Color: show.Red})
		case strings.HasPrefix(text, "@@"):
			lines[i] = line.In(show.Style{Color: show.Cyan})
		}
	}
	return lines
}
