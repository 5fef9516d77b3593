package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var (
	kindStrike = ast.NewNodeKind("Strikethrough")
	kindTask   = ast.NewNodeKind("Task")
)

// strike is text that is struck out.
type strike struct{ ast.BaseInline }

// Kind says that it is struck out.
func (*strike) Kind() ast.NodeKind { return kindStrike }

// Dump is part of the interface.
func (s *strike) Dump(source []byte, level int) { ast.DumpHelper(s, source, level, nil, nil) }

// task is the box of a task.
type task struct {
	ast.BaseInline
	done bool
}

// Kind says that it is a box.
func (*task) Kind() ast.NodeKind { return kindTask }

// Dump is part of the interface.
func (t *task) Dump(source []byte, level int) { ast.DumpHelper(t, source, level, nil, nil) }

// strikes finds text between ~~ and ~~.
type strikes struct{}

// Trigger are the bytes that it looks at.
func (strikes) Trigger() []byte { return []byte{'~'} }

// Parse parses two tildes.
func (s strikes) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, at := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 2, s)
	if d == nil || d.OriginalLength != 2 || before == '~' {
		return nil
	}
	d.Segment = at.WithStop(at.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

// IsDelimiter says whether a byte belongs to a mark.
func (strikes) IsDelimiter(b byte) bool { return b == '~' }

// CanOpenCloser says whether two marks fit.
func (strikes) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch is what is between two marks.
func (strikes) OnMatch(int) ast.Node { return &strike{} }

// tasks finds the box at the start of an item of a list.
type tasks struct{}

// Trigger are the bytes that it looks at.
func (tasks) Trigger() []byte { return []byte{'['} }

// Parse parses a box.
func (tasks) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item := parent.Parent()
	if item == nil || item.Kind() != ast.KindListItem || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 4 || line[2] != ']' || line[3] != ' ' && line[3] != '\t' {
		return nil
	}
	switch line[1] {
	case ' ', 'x', 'X':
		block.Advance(4)
		return &task{done: line[1] != ' '}
	}
	return nil
}
