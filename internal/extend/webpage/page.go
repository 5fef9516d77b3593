package webpage

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Page is a page as text.
type Page struct {
	// URL is the page's final address, and Title its title; may be empty.
	URL, Title string
	// Type is the media type, such as "text/html".
	Type string
	// Text is Markdown for HTML, otherwise the page unchanged. It is valid UTF-8.
	Text string
	// Bytes is how much was read, and Cut says that the page has more than MaxBytes.
	Bytes int64
	Cut   bool
}

// BinaryError says that a page is not text.
type BinaryError struct {
	Type  string
	Bytes int64
}

func (e *BinaryError) Error() string {
	return fmt.Sprintf("it is not text but %s", e.Type)
}

// read makes a Page from a server's answer.
func read(response *http.Response) (*Page, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	page := &Page{URL: response.Request.URL.String(), Bytes: int64(len(body)), Cut: len(body) > MaxBytes}
	body = body[:min(len(body), MaxBytes)]
	declared := response.Header.Get("Content-Type")
	if declared == "" {
		declared = http.DetectContentType(body)
	}
	if page.Type, _, err = mime.ParseMediaType(declared); err != nil {
		page.Type = http.DetectContentType(body)
	}
	if !textual(page.Type, body) {
		return nil, &BinaryError{Type: page.Type, Bytes: page.Bytes}
	}
	text, err := decode(body, declared)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(text, 0) {
		return nil, &BinaryError{Type: "data that calls itself " + page.Type, Bytes: page.Bytes}
	}
	if page.Type != "text/html" && page.Type != "application/xhtml+xml" {
		page.Text = text
		return page, nil
	}
	return page, page.convert(text)
}

// textual says whether a model can read content of a type.
func textual(kind string, body []byte) bool {
	switch _, structured, _ := strings.Cut(kind, "+"); {
	case strings.HasPrefix(kind, "text/"), structured == "json", structured == "xml", structured == "yaml":
	case kind == "application/json", kind == "application/xml", kind == "application/yaml", kind == "application/toml", kind == "application/x-ndjson",
		kind == "application/javascript", kind == "application/ecmascript", kind == "application/x-sh", kind == "application/sql":
	default:
		// Servers send octet-stream for types that they do not know.
		return kind == "application/octet-stream" && strings.HasPrefix(http.DetectContentType(body), "text/")
	}
	return true
}

// decode is a body as UTF-8, according to its byte order mark, its header or its own
// declaration.
func decode(body []byte, contentType string) (string, error) {
	if len(body) == 0 {
		return "", nil
	}
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return "", err
	}
	decoded, err := io.ReadAll(r)
	return strings.ToValidUTF8(string(decoded), "\uFFFD"), err
}

// convert turns HTML into Markdown.
func (p *Page) convert(text string) error {
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return err
	}
	p.Title = title(doc)
	prune(doc)
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	markdown, err := c.ConvertNode(doc, converter.WithDomain(p.URL))
	p.Text = string(markdown)
	return err
}

func title(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" && n.FirstChild != nil {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	}
	return ""
}

// prune removes what is not text to read: scripts, drawings, controls, pictures within
// the page's text, and what the page hides.
func prune(doc *html.Node) {
	var out []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && unread(n) {
			out = append(out, n)
		}
	}
	for _, n := range out {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

func unread(n *html.Node) bool {
	switch n.Data {
	case "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "button", "input", "select", "textarea", "dialog", "link", "meta":
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			return a.Val == "true" && n.Data != "body"
		case "src":
			if n.Data == "img" && strings.HasPrefix(strings.TrimSpace(a.Val), "data:") {
				return true
			}
		case "style":
			if style := strings.ReplaceAll(a.Val, " ", ""); strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}
