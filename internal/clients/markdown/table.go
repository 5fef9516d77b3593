package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// align is how a column of a table is aligned.
type align uint8

const (
	left align = iota
	right
	center
)

var (
	kindTable = ast.NewNodeKind("Table")
	kindCell  = ast.NewNodeKind("TableCell")
)

// table is a table. Its children are cells, row by row, beginning with the header; each
// row has as many as there are columns.
type table struct {
	ast.BaseBlock
	columns []align
}

// Kind says that it is a table.
func (*table) Kind() ast.NodeKind { return kindTable }

// Dump is part of the interface.
func (t *table) Dump(source []byte, level int) { ast.DumpHelper(t, source, level, nil, nil) }

// cell is a cell of a table.
type cell struct{ ast.BaseBlock }

// Kind says that it is a cell.
func (*cell) Kind() ast.NodeKind { return kindCell }

// Dump is part of the interface.
func (c *cell) Dump(source []byte, level int) { ast.DumpHelper(c, source, level, nil, nil) }

const (
	// maxColumns is how many columns a table may have.
	maxColumns = 64
	// maxCells is how many cells: each row has as many as the header, be it ever so short.
	maxCells = 1 << 14
)

// tables makes tables of paragraphs: a line of cells, a line of dashes, and more lines.
type tables struct{}

// Transform takes the lines of a table from a paragraph.
func (tables) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines, source := node.Lines(), reader.Source()
	for i := 1; i < lines.Len(); i++ {
		below := lines.At(i)
		columns := delimiters(below.Value(source))
		if columns == nil {
			continue
		}
		if len(split(source, lines.At(i-1))) != len(columns) || (lines.Len()-i)*len(columns) > maxCells {
			return
		}
		t := &table{columns: columns}
		t.add(source, lines.At(i-1))
		for j := i + 1; j < lines.Len(); j++ {
			t.add(source, lines.At(j))
		}
		node.Parent().InsertAfter(node.Parent(), node, t)
		if i == 1 {
			node.Parent().RemoveChild(node.Parent(), node)
			return
		}
		lines.SetSliced(0, i-1)
		return
	}
}

// delimiters are the columns that a line of dashes declares; nil for another line.
func delimiters(line []byte) (columns []align) {
	row := strings.TrimSpace(string(line))
	if !strings.Contains(row, "-") || strings.Trim(row, "-:| \t") != "" || !strings.ContainsAny(row, "|:") {
		return nil
	}
	for c := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|") {
		c = strings.TrimSpace(c)
		dashes := strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" || len(columns) == maxColumns {
			return nil
		}
		a := left
		if strings.HasSuffix(c, ":") {
			a = right
			if strings.HasPrefix(c, ":") {
				a = center
			}
		}
		columns = append(columns, a)
	}
	return columns
}

// split divides a row into the places of its cells.
func split(source []byte, row text.Segment) (cells []text.Segment) {
	row = row.TrimLeftSpace(source)
	row = row.TrimRightSpace(source)
	begin, end := row.Start, row.Stop
	if begin < end && source[begin] == '|' {
		begin++
	}
	if end > begin && source[end-1] == '|' && !escaped(source[begin:end-1]) {
		end--
	}
	for at := begin; at <= end; at++ {
		if at == end || source[at] == '|' && !escaped(source[begin:at]) {
			c := text.NewSegment(begin, at)
			c = c.TrimLeftSpace(source)
			cells = append(cells, c.TrimRightSpace(source))
			begin = at + 1
		}
	}
	return cells
}

// escaped says that the next byte follows an odd number of backslashes.
func escaped(before []byte) bool {
	return (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 1
}

// add adds a row: cells that the header has no column for are left out.
func (t *table) add(source []byte, row text.Segment) {
	places := split(source, row)
	for i := range t.columns {
		c := &cell{}
		if i < len(places) && places[i].Len() > 0 {
			c.Lines().Append(places[i])
		}
		t.AppendChild(t, c)
	}
}
