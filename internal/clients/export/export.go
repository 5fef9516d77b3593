package export

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	md "podd/internal/clients/markdown"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/internal/workspace/picture"
	"podd/pkg/item"
	"podd/pkg/transcript"
)

// Document is a pod's transcript and what its head says.
type Document struct {
	// Model is the model of the pod; empty for the default one.
	Pod, Dir, Model string
	// From and To are the first and the last entry.
	From, To item.Seq
	Blocks   []transcript.Block
	// Times are those of entries, by their sequences.
	Times map[item.Seq]time.Time
	// Image reads the bytes of an image, by its digest.
	Image func(digest string) ([]byte, error)
}

// MostImages is how many bytes of images a document holds.
const MostImages = 32 << 20

// form is how a document looks. Its texts are sanitized.
type form interface {
	head(title, facts string)
	// heading begins a message or a notice; level is 2 for prompts, else 3.
	heading(level int, text string)
	// answer is Markdown of the model, said the plain text of a person or of podd, code the text of
	// a program.
	answer(text string)
	said(text string)
	code(title, text string)
	// image is a picture and a line about it. The bytes are read only if the form holds pictures.
	image(line string, bytes func() ([]byte, error))
	foot()
}

// Markdown writes a document as Markdown. Answers stay the Markdown that they are, and pictures
// are lines.
func Markdown(w io.Writer, d Document) error {
	f := &markdown{printer{w: w}}
	d.write(f)
	return f.err
}

// HTML writes a document as one HTML file that loads nothing and runs nothing. It holds the
// pictures.
func HTML(w io.Writer, d Document) error {
	f := &page{printer: printer{w: w}}
	d.write(f)
	return f.err
}

func (d Document) write(f form) {
	f.head("Pod "+sanitize.Line(d.Pod), d.facts())
	for _, b := range d.Blocks {
		d.block(f, b)
	}
	f.foot()
}

// facts say in a line what the document has.
func (d Document) facts() string {
	facts := []string{sanitize.Line(d.Dir), fmt.Sprintf("entries #%d to #%d", d.From, d.To)}
	if from, to := d.Times[d.From], d.Times[d.To]; !from.IsZero() {
		facts = append(facts, from.Local().Format(time.DateTime)+" to "+to.Local().Format(time.DateTime))
	}
	if d.Model != "" {
		facts = append(facts, "model "+sanitize.Line(d.Model))
	}
	var used item.Usage
	for _, b := range d.Blocks {
		used = used.Add(item.Usage(b.End.Usage))
	}
	if used.Requests > 0 {
		facts = append(facts, fmt.Sprintf("%s tokens in, %s out", view.Count(used.Input), view.Count(used.Output)))
	}
	return strings.Join(facts, " · ")
}

func (d Document) block(f form, b transcript.Block) {
	text := sanitize.Terminal(b.Text)
	switch b.Kind {
	case transcript.User:
		title := "Prompt"
		if b.State == transcript.Queued {
			title = "Prompt (queued)"
		}
		f.heading(2, title+d.at(b))
		f.said(text)
	case transcript.Answer:
		f.answer(text)
	case transcript.Thought:
		f.code("Thought", text)
	case transcript.Tool:
		f.heading(3, sanitize.Line(cmp.Or(b.Text, b.Call.Tool+": "+string(b.State))))
		f.code("Arguments", sanitize.Terminal(b.Call.Arguments))
		f.code("Result", sanitize.Terminal(b.Detail))
		for _, diff := range b.Call.Diffs.List() {
			f.code("Change of "+sanitize.Line(diff.Path), sanitize.Terminal(diff.Diff))
		}
	case transcript.Notice:
		// The first line says what it is.
		first, rest, _ := strings.Cut(text, "\n")
		if strings.TrimSpace(rest) == "" {
			f.said(first)
		} else {
			f.code(first, rest)
		}
	case transcript.Alert:
		f.code("Alert, "+sanitize.Line(string(b.Alert.Level)), text)
	case transcript.End:
		f.heading(3, fmt.Sprintf("Turn %d %s%s", b.Turn, sanitize.Line(string(b.End.Outcome)), d.at(b)))
		f.said(text)
	}
	for _, i := range b.Images {
		f.image(view.Picture(i), func() ([]byte, error) { return d.Image(i.Digest) })
	}
}

// at is the entry and the time of a block.
func (d Document) at(b transcript.Block) string {
	if b.Seq == 0 {
		return ""
	}
	at := fmt.Sprintf(" #%d", b.Seq)
	if t, ok := d.Times[b.Seq]; ok {
		at += ", " + t.Local().Format(time.DateTime)
	}
	return at
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) print(parts ...string) {
	for _, part := range parts {
		if p.err == nil {
			_, p.err = io.WriteString(p.w, part)
		}
	}
}

type markdown struct{ printer }

func (m *markdown) head(title, facts string) {
	m.print("# ", inline(title), "\n\n", inline(facts), "\n")
}

func (m *markdown) heading(level int, text string) {
	m.print("\n", strings.Repeat("#", level), " ", inline(text), "\n")
}

func (m *markdown) answer(text string) {
	m.heading(3, "Answer")
	if text = strings.TrimRight(text, "\n"); text != "" {
		m.print("\n", text, "\n")
	}
}

func (m *markdown) said(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		m.print("\n> ", strings.ReplaceAll(html.EscapeString(text), "\n", "\n> "), "\n")
	}
}

func (m *markdown) code(title, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		fence := strings.Repeat("`", max(3, run(text)+1))
		m.print("\n", inline(title), ":\n\n", fence, "\n", text, "\n", fence, "\n")
	}
}

func (m *markdown) image(line string, _ func() ([]byte, error)) { m.said(line) }

func (m *markdown) foot() {}

// run is the length of the longest run of backticks.
func run(text string) (longest int) {
	n := 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// marks are the characters that mean something within a line of Markdown.
var marks = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`)

// inline is one line of text as Markdown.
func inline(text string) string { return marks.Replace(text) }

type page struct {
	printer
	// images is how many bytes of images it has.
	images int
}

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
pre,blockquote.said,figcaption{white-space:pre-wrap}
pre{font:13px/1.4 ui-monospace,monospace;border-left:3px solid #8888;padding-left:.7rem}
code{font:.9em ui-monospace,monospace;background:#8882;padding:.1em .25em;border-radius:3px}pre code{background:none;padding:0}
blockquote{margin:.5rem 0;padding-left:.7rem;border-left:3px solid #8888}blockquote.said{border-color:#48f}
table{border-collapse:collapse;margin:.5rem 0}th,td{border:1px solid #8886;padding:.2rem .6rem}
figure{margin:.5rem 0}img{display:block;max-width:100%;max-height:80vh}figcaption{font-size:.85rem}
section>h2{font-size:1rem;margin:2.5rem 0 .5rem}section>h3{font-size:.9rem;margin:1rem 0 .3rem;color:#888;font-weight:600}
section :is(div h1,div h2,div h3){font-size:1.1rem;margin:1rem 0 .3rem}
summary{cursor:pointer;color:#888}`

func (p *page) head(title, facts string) {
	p.print("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`, "\n",
		`<meta name="viewport" content="width=device-width">`, "\n<title>", html.EscapeString(title), "</title>\n<style>", style, "</style></head><body>\n",
		"<h1>", html.EscapeString(title), "</h1>\n<p>", html.EscapeString(facts), "</p>\n<section>\n")
}

func (p *page) heading(level int, text string) {
	p.print(fmt.Sprintf("<h%d>%s</h%[1]d>\n", level, html.EscapeString(text)))
}

func (p *page) answer(text string) {
	if strings.TrimSpace(text) == "" || p.err != nil {
		return
	}
	p.print("<div>\n")
	p.err = cmp.Or(p.err, md.HTML(p.w, text))
	p.print("</div>\n")
}

func (p *page) said(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		p.print(`<blockquote class="said">`, html.EscapeString(text), "</blockquote>\n")
	}
}

func (p *page) code(title, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		p.print("<details><summary>", html.EscapeString(title), "</summary><pre>", html.EscapeString(text), "</pre></details>\n")
	}
}

// image embeds a picture if its bytes are those of one of a known type.
func (p *page) image(line string, bytes func() ([]byte, error)) {
	if p.err != nil {
		return
	}
	data, failed := bytes()
	kind, err := picture.Check(data)
	why := ""
	switch {
	case item.KindOf(failed) == item.KindNotFound:
		why = "podd no longer has it"
	case failed != nil:
		p.err = failed
		return
	case err != nil:
		why = "it " + err.Error()
	case p.images+len(data) > MostImages:
		why = fmt.Sprintf("the file has %d MiB of pictures; podctl image saves this one", MostImages>>20)
	}
	line = html.EscapeString(line)
	if why != "" {
		p.print("<figure><figcaption>", line, " left out: ", html.EscapeString(sanitize.Line(why)), "</figcaption></figure>\n")
		return
	}
	p.images += len(data)
	p.print(`<figure><img alt="`, line, `" src="data:`, kind, ";base64,", base64.StdEncoding.EncodeToString(data), `"><figcaption>`, line, "</figcaption></figure>\n")
}

func (p *page) foot() { p.print("</section>\n</body></html>\n") }
