// Site makes the documentation as static pages: README.md, docs, and whatever they link to, with
// navigation and a search that sends no request. A link that leads nowhere is an error.
//
//	site -root DIR -out DIR
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html site.css search.js
var assets embed.FS

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// site is a site in the making.
type site struct {
	tree fs.FS
	out  string
	// pages are by their path in the repository; queue are those that are not rendered yet.
	pages map[string]*page
	queue []*page
	// files are copied as they are, each from its tree.
	files map[string]fs.FS
	wrong []error
}

// page is a file or a directory of the repository.
type page struct {
	Path, Title string
	Body        template.HTML
	// anchors are what a link can name, once the page is rendered; parts are what the search finds.
	anchors map[string]bool
	parts   []part
	links   []link
}

// part is a piece of a page below one heading.
type part struct {
	Address string `json:"a"`
	Title   string `json:"t"`
	Text    string `json:"x"`
}

// link is a link to a page's heading.
type link struct{ to, anchor string }

func main() {
	root := flag.String("root", ".", "the `directory` that has README.md and docs")
	out := flag.String("out", "", "the `directory` to make")
	flag.Parse()
	s := site{tree: os.DirFS(*root), out: *out, pages: map[string]*page{}, files: map[string]fs.FS{"site.css": assets, "search.js": assets}}
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "make site:", err)
		os.Exit(1)
	}
	fmt.Println(filepath.Join(s.out, "index.html"))
}

func (s *site) run() error {
	if there, err := os.ReadDir(s.out); err == nil && len(there) > 0 {
		return fmt.Errorf("%s is not empty; remove it, or set OUT to another directory", s.out)
	}
	docs, err := fs.Glob(s.tree, "docs/*.md")
	if err != nil {
		return err
	}
	for _, file := range append(docs, "README.md") {
		s.page(file)
	}
	for len(s.queue) > 0 {
		p := s.queue[0]
		s.queue = s.queue[1:]
		if err := s.render(p); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	for _, p := range s.sorted() {
		for _, l := range p.links {
			if l.anchor != "" && !s.pages[l.to].anchors[l.anchor] {
				s.wrong = append(s.wrong, fmt.Errorf("%s links to #%s, which %s does not have", p.Path, l.anchor, l.to))
			}
		}
	}
	if s.wrong != nil {
		return errors.Join(s.wrong...)
	}
	return s.write()
}

func (s *site) sorted() []*page {
	return slices.SortedFunc(maps.Values(s.pages), func(a, b *page) int { return strings.Compare(a.Path, b.Path) })
}

// page is the page of a file or directory; a new one is rendered later.
func (s *site) page(file string) *page {
	if inside := path.Join(file, "README.md"); s.has(inside) {
		file = inside
	}
	p := s.pages[file]
	if p == nil {
		p = &page{Path: file, Title: file, anchors: map[string]bool{}}
		s.pages[file] = p
		s.queue = append(s.queue, p)
	}
	return p
}

// place is where a page is in the site.
func (p *page) place() string {
	if path.Base(p.Path) == "README.md" {
		return path.Join(path.Dir(p.Path), "index.html")
	}
	return strings.TrimSuffix(p.Path, ".md") + ".html"
}

func (s *site) has(file string) bool {
	_, err := fs.Stat(s.tree, file) // A path out of the tree is an error too.
	return err == nil
}

// source is a page's Markdown: the file's, a listing of a directory, or the file as code.
func (s *site) source(p *page) ([]byte, error) {
	if path.Ext(p.Path) == ".md" {
		return fs.ReadFile(s.tree, p.Path)
	}
	entries, err := fs.ReadDir(s.tree, p.Path)
	if err != nil {
		source, err := fs.ReadFile(s.tree, p.Path)
		return slices.Concat([]byte("# "+p.Path+"\n\n``````\n"), source, []byte("\n``````\n")), err
	}
	list := "# " + p.Path + "\n\n"
	for _, e := range entries {
		if !e.IsDir() && !strings.HasSuffix(e.Name(), ".pb.go") {
			list += fmt.Sprintf("- [%s](%s/%[1]s)\n", e.Name(), path.Base(p.Path))
		}
	}
	return []byte(list), nil
}

func (s *site) render(p *page) error {
	source, err := s.source(p)
	if err != nil {
		return err
	}
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(p))))
	// Comments are for those who read the source.
	for n := doc.FirstChild(); n != nil; {
		comment, next := n, n.NextSibling()
		if b, ok := comment.(*ast.HTMLBlock); ok && b.HTMLBlockType == ast.HTMLBlockType2 {
			doc.RemoveChild(doc, comment)
		}
		n = next
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if heading, ok := n.(*ast.Heading); ok {
			id, _ := heading.AttributeString("id")
			p.parts = append(p.parts, part{Address: fmt.Sprintf("%s#%s", p.place(), id), Title: plain(n, source)})
		} else if len(p.parts) > 0 {
			p.parts[len(p.parts)-1].Text += plain(n, source) + " "
		}
	}
	if len(p.parts) > 0 {
		p.Title = p.parts[0].Title
	}
	if err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			return ast.WalkStop, errors.New("the page has HTML, which the site does not show; write Markdown")
		case *ast.Link:
			if entering {
				n.Destination = s.resolve(p, string(n.Destination))
			}
		case *ast.Image:
			if entering {
				n.Destination = s.picture(p, string(n.Destination))
			}
		}
		return ast.WalkContinue, nil
	}); err != nil {
		return err
	}
	var body strings.Builder
	err = markdown.Renderer().Render(&body, source, doc)
	p.Body = template.HTML(body.String()) // goldmark escaped it.
	return err
}

// plain is the text of a node and all below it.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// resolve is where a link leads in the site.
func (s *site) resolve(p *page, to string) []byte {
	if strings.Contains(to, ":") {
		return []byte(to)
	}
	file, anchor, named := strings.Cut(to, "#")
	target := p
	if file != "" {
		file = path.Join(path.Dir(p.Path), file)
		if !s.has(file) {
			s.wrong = append(s.wrong, fmt.Errorf("%s links to %s, which does not exist", p.Path, to))
			return nil
		}
		target = s.page(file)
	}
	p.links = append(p.links, link{target.Path, anchor})
	if named {
		anchor = "#" + anchor
	}
	return []byte(relative(p.place(), target.place()) + anchor)
}

// picture is where a picture is in the site, which has a copy.
func (s *site) picture(p *page, to string) []byte {
	file := path.Join(path.Dir(p.Path), to)
	if !s.has(file) {
		s.wrong = append(s.wrong, fmt.Errorf("%s shows %s, which does not exist in the repository", p.Path, to))
	}
	s.files[file] = s.tree
	return []byte(relative(p.place(), file))
}

// relative is the address of one place of the site on the page at another.
func relative(from, to string) string {
	rel, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		panic(err) // Both are below the site.
	}
	return filepath.ToSlash(rel)
}

// Generate is the fragment of a heading, as GitHub makes it: lower case, blanks as hyphens, no punctuation.
func (p *page) Generate(title []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(title))
	id := slug
	for n := 1; p.anchors[id]; n++ {
		id = fmt.Sprintf("%s-%d", slug, n)
	}
	p.anchors[id] = true
	return []byte(id)
}

// Put is for fragments that a page gives itself; none does.
func (p *page) Put([]byte) {}

// section is a part of the navigation.
type section struct {
	Title string
	Pages []*page
}

// navigation is that of docs/README.md: bold titles, and the pages that its lists name.
func (s *site) navigation() ([]section, error) {
	source, err := fs.ReadFile(s.tree, "docs/README.md")
	if err != nil {
		return nil, err
	}
	list := []section{{Title: "podd", Pages: []*page{s.pages["README.md"]}}}
	err = ast.Walk(markdown.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Emphasis:
			if entering {
				list = append(list, section{Title: plain(n, source)})
			}
		case *ast.Link:
			if p := s.pages[path.Join("docs", string(n.Destination))]; entering && p != nil {
				last := &list[len(list)-1]
				last.Pages = append(last.Pages, p)
			}
		}
		return ast.WalkContinue, nil
	})
	return list, err
}

// frame is what page.html gets.
type frame struct {
	*page
	Navigation []section
	// Root is the way to the site's root.
	Root string
}

// To is the way to a page.
func (f frame) To(p *page) string { return relative(f.place(), p.place()) }

// write writes the pages, what the search finds, and the files that pages show.
func (s *site) write() error {
	navigation, err := s.navigation()
	if err != nil {
		return err
	}
	layout := template.Must(template.ParseFS(assets, "page.html"))
	var parts []part
	for _, p := range s.sorted() {
		parts = append(parts, p.parts...)
		var b bytes.Buffer
		if err := layout.Execute(&b, frame{p, navigation, strings.Repeat("../", strings.Count(p.place(), "/"))}); err != nil {
			return err
		}
		if err := s.file(p.place(), b.Bytes()); err != nil {
			return err
		}
	}
	for name, tree := range s.files {
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if err := s.file(name, data); err != nil {
			return err
		}
	}
	index, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	return s.file("index.js", slices.Concat([]byte("found("), index, []byte(");\n")))
}

func (s *site) file(place string, data []byte) error {
	name := filepath.Join(s.out, filepath.FromSlash(place))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
