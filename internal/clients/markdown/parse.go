package markdown

import (
	"slices"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// maxLeaf is how long the text of a paragraph, heading or cell may be to be parsed, in
	// bytes: links that nest cost the square of it.
	maxLeaf = 8 << 10
	// maxDepth is how deep quotes and lists nest; below, their marks are text.
	maxDepth = 16
)

// grammar are the two parsers: outline knows the blocks alone, full the text in them too.
var grammar = sync.OnceValue(func() (g struct{ outline, full parser.Parser }) {
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(container{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(container{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	paragraphs := []util.PrioritizedValue{
		util.Prioritized(origins{}, 50),
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(tables{}, 200),
	}
	inlines := []util.PrioritizedValue{
		util.Prioritized(short{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(short{tasks{}}, 150),
		util.Prioritized(shortClosing{parser.NewLinkParser()}, 200),
		util.Prioritized(short{parser.NewAutoLinkParser()}, 300),
		util.Prioritized(short{parser.NewEmphasisParser()}, 500),
		util.Prioritized(short{strikes{}}, 500),
	}
	g.outline = parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithParagraphTransformers(paragraphs...))
	g.full = parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithParagraphTransformers(paragraphs...), parser.WithInlineParsers(inlines...))
	return g
})

// container is a parser of quotes or lists that stops at maxDepth.
type container struct{ parser.BlockParser }

// Open opens a container.
func (c container) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		depth++
	}
	if depth > maxDepth {
		return nil, parser.NoChildren
	}
	return c.BlockParser.Open(parent, reader, pc)
}

// short is a parser of what is in a leaf, unless that is too long.
type short struct{ parser.InlineParser }

// Parse parses what begins here.
func (s short) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if tooLong(parent) {
		return nil
	}
	return s.InlineParser.Parse(parent, block, pc)
}

// shortClosing is short for the parser of links, which also acts at the end of a leaf.
type shortClosing struct{ parser.InlineParser }

// Parse parses what begins here.
func (s shortClosing) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	return short(s).Parse(parent, block, pc)
}

// CloseBlock ends a leaf.
func (s shortClosing) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := s.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

func tooLong(leaf ast.Node) bool {
	lines := leaf.Lines()
	n := lines.Len()
	return n > 0 && lines.At(n-1).Stop-lines.At(0).Start > maxLeaf
}

// context is what a parse knows besides its text.
type context struct {
	parser.Context
	// known are the link definitions above; own those of this text.
	known, own map[string]parser.Reference
	// starts are where top-level paragraphs began, which may have become something else.
	starts []int
}

func newContext(known map[string]parser.Reference) *context {
	return &context{Context: parser.NewContext(), known: known, own: make(map[string]parser.Reference)}
}

// AddReference takes a link definition; the first one of a label counts.
func (c *context) AddReference(ref parser.Reference) {
	label := util.ToLinkReference(ref.Label())
	if _, ok := c.Reference(label); !ok {
		c.own[label] = parser.NewReference(slices.Clone(ref.Label()), slices.Clone(ref.Destination()), slices.Clone(ref.Title()))
	}
}

// Reference finds a link definition.
func (c *context) Reference(label string) (parser.Reference, bool) {
	ref, ok := c.known[label]
	if !ok {
		ref, ok = c.own[label]
	}
	return ref, ok
}

// origins notes where top-level paragraphs begin, before other transformers take lines of
// them.
type origins struct{}

// Transform changes nothing.
func (origins) Transform(node *ast.Paragraph, _ text.Reader, pc parser.Context) {
	if c, ok := pc.(*context); ok && node.Parent() != nil && node.Parent().Kind() == ast.KindDocument {
		c.starts = append(c.starts, node.Pos())
	}
}

// boundaries are where the top-level blocks of a source begin, each at the start of a line,
// in order.
func boundaries(source []byte) []int {
	c := newContext(nil)
	root := grammar().outline.Parse(text.NewReader(slices.Clip(source)), parser.WithContext(c))
	starts := c.starts
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n.Kind() {
		case ast.KindParagraph, ast.KindLinkReferenceDefinition, kindTable:
			continue // These were a paragraph.
		case ast.KindHeading:
			if n.Lines().Len() > 0 && n.Pos() > n.Lines().At(0).Start {
				continue // So was this one, with a line below it.
			}
		}
		if n.Pos() >= 0 {
			starts = append(starts, n.Pos())
		}
	}
	for i, at := range starts {
		for at > 0 && source[at-1] != '\n' {
			at--
		}
		starts[i] = at
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}
