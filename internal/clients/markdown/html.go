package markdown

import (
	"html"
	"io"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	grender "github.com/yuin/goldmark/renderer"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// HTML writes a Markdown text as HTML. Raw HTML in it is shown as the text that it is, a picture
// is a link, and a link to anything but a page or a file is left out: the result loads
// nothing and runs nothing.
func HTML(w io.Writer, source string) error {
	src := slices.Clip([]byte(source)) // goldmark appends to what it was given.
	root := grammar().full.Parse(text.NewReader(src), parser.WithContext(newContext(nil)))
	r := grender.NewRenderer(grender.WithNodeRenderers(
		util.Prioritized(&web{}, 100),
		util.Prioritized(ghtml.NewRenderer(ghtml.WithHardWraps()), 1000),
	))
	return r.Render(w, src, root)
}

// web renders what goldmark's renderer does not know, or would load or leave out.
type web struct {
	// cells is how many cells of the current table are written.
	cells int
}

// RegisterFuncs is part of the interface.
func (r *web) RegisterFuncs(reg grender.NodeRendererFuncRegisterer) {
	reg.Register(kindTable, r.table)
	reg.Register(kindCell, r.cell)
	reg.Register(kindStrike, around("<del>", "</del>"))
	reg.Register(kindTask, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(map[bool]string{true: "☑ ", false: "☐ "}[n.(*task).done])
		}
		return ast.WalkContinue, nil
	})
	reg.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		to := n.(*ast.Image).Destination
		if ghtml.IsDangerousURL(to) {
			to = nil
		}
		return around(`<a href="`+html.EscapeString(string(util.URLEscape(to, true)))+`">`, "</a>")(w, nil, n, entering)
	})
	reg.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(html.EscapeString(string(n.(*ast.RawHTML).Segments.Value(source))))
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if b := n.(*ast.HTMLBlock); entering {
			raw := string(b.Lines().Value(source))
			if b.HasClosure() {
				raw += string(b.ClosureLine.Value(source))
			}
			_, _ = w.WriteString("<pre>" + html.EscapeString(raw) + "</pre>\n")
		}
		return ast.WalkContinue, nil
	})
}

// around writes marks around a node.
func around(before, after string) grender.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		mark := after
		if entering {
			mark = before
		}
		_, err := w.WriteString(mark)
		return ast.WalkContinue, err
	}
}

// table begins and ends a table.
func (r *web) table(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	r.cells = 0
	return around("<table>\n", "</table>\n")(w, nil, n, entering)
}

// cell begins and ends a cell, and the row of the first and the last one.
func (r *web) cell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	columns := n.Parent().(*table).columns
	column, tag := r.cells%len(columns), "td"
	if r.cells < len(columns) {
		tag = "th"
	}
	before, after := "<"+tag+[]string{left: ">", right: ` align="right">`, center: ` align="center">`}[columns[column]], "</"+tag+">"
	if column == 0 {
		before = "<tr>" + before
	}
	if column == len(columns)-1 {
		after += "</tr>\n"
	}
	if !entering {
		r.cells++
	}
	return around(before, after)(w, nil, n, entering)
}
