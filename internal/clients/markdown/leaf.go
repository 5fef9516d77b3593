package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"podd/internal/clients/show"
)

var codeStyle = show.Style{Color: show.Cyan}

// inline are the lines of what is in a leaf; more than one has hard breaks.
func (r renderer) inline(n ast.Node, st show.Style) []show.Line {
	w := &leafWriter{renderer: r, lines: []show.Line{nil}}
	w.children(n, st)
	return w.lines
}

// leafWriter collects the spans of a leaf.
type leafWriter struct {
	renderer
	lines []show.Line
}

func (w *leafWriter) add(text string, st show.Style) {
	if text != "" {
		last := len(w.lines) - 1
		w.lines[last] = append(w.lines[last], show.Safe(text, st))
	}
}

func (w *leafWriter) children(n ast.Node, st show.Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, st)
	}
}

func (w *leafWriter) node(n ast.Node, st show.Style) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(n, st)
	case *ast.String:
		w.add(string(n.Value), st)
	case *ast.CodeSpan:
		w.code(n, st.Add(codeStyle))
	case *ast.Emphasis:
		w.children(n, st.Add(show.Style{Italic: n.Level == 1, Bold: n.Level > 1}))
	case *strike:
		w.children(n, st.Add(show.Style{Strike: true}))
	case *task:
		if n.done {
			w.add("[x] ", st)
		} else {
			w.add("[ ] ", st)
		}
	case *ast.AutoLink:
		w.add(string(n.URL(w.source)), st.Add(linkStyle))
	case *ast.Link:
		w.link(n, string(unescape(n.Destination)), st)
	case *ast.Image:
		w.link(n, string(unescape(n.Destination)), st)
	default:
		w.children(n, st)
	}
}

var linkStyle = show.Style{Underline: true}

// link shows a link as its text and, if that is another, its address.
func (w *leafWriter) link(n ast.Node, address string, st show.Style) {
	line, at := len(w.lines), len(w.lines[len(w.lines)-1])
	w.children(n, st)
	if address == "" {
		return
	}
	if len(w.lines) == line {
		shown := w.lines[line-1][at:].String()
		same := show.Safe(address, st).Text()
		if shown == same || "mailto:"+shown == same {
			for i := range w.lines[line-1][at:] {
				w.lines[line-1][at+i] = show.Safe(w.lines[line-1][at+i].Text(), st.Add(linkStyle))
			}
			return
		}
		if shown != "" {
			w.add(" ", st)
		}
	}
	w.add("(", st)
	w.add(address, st.Add(linkStyle))
	w.add(")", st)
}

func (w *leafWriter) text(n *ast.Text, st show.Style) {
	value := n.Value(w.source)
	if !n.IsRaw() {
		value = unescape(value)
	}
	w.add(strings.TrimSuffix(string(value), "\n"), st)
	switch {
	case n.HardLineBreak():
		w.lines = append(w.lines, nil)
	case n.SoftLineBreak():
		w.add(" ", st)
	}
}

// code is the text of a code span; within a table an escaped bar is a bar.
func (w *leafWriter) code(n *ast.CodeSpan, st show.Style) {
	var b bytes.Buffer
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Value(w.source))
		}
	}
	text := strings.NewReplacer("\r\n", " ", "\n", " ").Replace(b.String())
	if p := n.Parent(); p != nil && p.Kind() == kindCell {
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	w.add(text, st)
}

// longestEntity is how long the name of an entity may be, in bytes.
const longestEntity = 32

// unescape resolves backslashes and entities, each once.
func unescape(text []byte) []byte {
	if !bytes.ContainsAny(text, `\&`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && util.IsPunct(text[i+1]) {
			i++
		} else if text[i] == '&' {
			if end := bytes.IndexByte(text[i:min(len(text), i+longestEntity)], ';'); end > 0 {
				name := text[i : i+end+1]
				if resolved := util.ResolveEntityNames(util.ResolveNumericReferences(name)); !bytes.Equal(resolved, name) {
					out = append(out, resolved...)
					i += end
					continue
				}
			}
		}
		out = append(out, text[i])
	}
	return out
}
