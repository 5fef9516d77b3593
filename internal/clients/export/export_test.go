package export_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/export"
	"podd/pkg/item"
	"podd/pkg/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is text that would be markup, a script, the end of a fence or a terminal sequence.
const hostile = "a</pre></div><script>alert(1)</script><img src=x onerror=alert(2)>\n````\n# forged\n\x1b]0;title\x07\x1b[2J &#27; \"'\u202e\x00\xff"

func document() export.Document {
	d := export.Document{Pod: hostile, Dir: hostile, From: 1, To: 9}
	for _, kind := range []transcript.Kind{
		transcript.User, transcript.Answer, transcript.Thought, transcript.Tool, transcript.Notice, transcript.Alert, transcript.End,
	} {
		b := transcript.Block{Kind: kind, Seq: 1, State: transcript.Done, Text: hostile, Detail: hostile, Code: hostile}
		b.Call.Tool, b.Call.Arguments, b.Alert.Level, b.End.Outcome = hostile, hostile, hostile, hostile
		b.Images = []transcript.Image{{Name: hostile, MediaType: strings.ToValidUTF8(hostile, ""), Digest: hostile}}
		d.Blocks = append(d.Blocks, b)
	}
	d.Image = func(string) ([]byte, error) { return []byte(hostile), nil }
	return d
}

// dot is a PNG of one pixel.
func dot(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb is a PNG that says that it has 60,000 x 60,000 pixels.
func bomb(t *testing.T) []byte {
	t.Helper()
	data := dot(t)
	binary.BigEndian.PutUint32(data[16:], 60_000)
	binary.BigEndian.PutUint32(data[20:], 60_000)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// An HTML file holds pictures of known types, up to its bound; what stays out says why. Markdown names them.
func TestPictures(t *testing.T) {
	large := append(dot(t), make([]byte, 9<<20)...)
	images := map[string][]byte{"a": dot(t), "b": large, "svg": []byte("<svg onload=alert(1)>"), "html": []byte("<script>alert(1)</script>"), "bomb": bomb(t)}
	d := export.Document{Image: func(digest string) ([]byte, error) {
		if data, ok := images[digest]; ok {
			return data, nil
		}
		return nil, item.Errorf(item.KindNotFound, "IMAGE_NOT_FOUND", "no entry has the image")
	}}
	for _, digest := range []string{"a", "svg", "html", "bomb", "gone", "b", "b", "b", "b", "a"} {
		d.Blocks = append(d.Blocks, transcript.Block{Kind: transcript.User, Images: []transcript.Image{{Name: digest + `".png`, MediaType: "image/svg+xml", Digest: digest}}})
	}
	var html, md strings.Builder
	if err := export.HTML(&html, d); err != nil {
		t.Fatal(err)
	}
	if err := export.Markdown(&md, d); err != nil {
		t.Fatal(err)
	}
	page := html.String()
	if n := strings.Count(page, `<img alt="[picture `); n != 5 {
		t.Errorf("%d pictures", n)
	}
	if n := strings.Count(page, `" src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(images["a"])+`">`); n != 2 {
		t.Errorf("%d small pictures", n)
	}
	for what, why := range map[string]string{"svg": "it is not a PNG, JPEG, GIF or WebP image", "html": "it is not a PNG", "bomb": "it has 60000x60000 pixels", "gone": "podd no longer has it", "b": "the file has 32 MiB of pictures"} {
		if !strings.Contains(page, "[picture "+what+`&#34;.png, SVG+XML 0×0, 0 bytes] left out: `+why) {
			t.Errorf("%s does not say that %s", what, why)
		}
	}
	if !strings.Contains(page, "img-src data:") || strings.Contains(page, "<svg") || strings.Contains(page, "<script") {
		t.Error("the page has another picture, or does not allow its own")
	}
	if strings.Count(md.String(), "> [picture ") != len(d.Blocks) || strings.Contains(md.String(), "base64") {
		t.Errorf("the Markdown is\n%s", md.String())
	}
	d.Image = func(string) ([]byte, error) { return nil, io.ErrUnexpectedEOF }
	if err := export.HTML(io.Discard, d); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an export without an answer ends with %v", err)
	}
}

var tag = regexp.MustCompile(`<[^>]*>?`)

// An answer is Markdown, as it is in the terminal and on the page; what it would load or run is text.
func TestAnswersAreRendered(t *testing.T) {
	d := export.Document{Model: "m", Blocks: []transcript.Block{{Kind: transcript.Answer, Text: "# Result\n\n**bold** `code` ~~gone~~\n\n" +
		"| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 |\n\n- [x] done\n- [ ] open\n\n```go\nx := 1 < 2\n```\n\n" +
		"![pic](https://x.invalid/a.png) ![bad](javascript:alert(1)) [run](javascript:alert(2)) [page](https://x.invalid) <b>raw</b>\n\n<script>\nalert(3)\n</script>\n"}}}
	var html strings.Builder
	if err := export.HTML(&html, d); err != nil {
		t.Fatal(err)
	}
	page := html.String()
	for _, want := range []string{
		"<h1>Result</h1>", "<strong>bold</strong>", "<code>code</code>", "<del>gone</del>", "☑ done", "☐ open", "x := 1 &lt; 2",
		"<tr><th>a</th><th align=\"right\">b</th></tr>", "<tr><td>1</td><td align=\"right\">2</td></tr>\n<tr><td>3</td><td align=\"right\"></td></tr>",
		`<a href="https://x.invalid/a.png">pic</a>`, `<a href="">bad</a>`, `<a href="">run</a>`, `<a href="https://x.invalid">page</a>`,
		"&lt;b&gt;raw&lt;/b&gt;", "&lt;script&gt;\nalert(3)", "model m", ":root{color-scheme:light dark}",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "<script") || strings.Contains(page, "<b>") {
		t.Errorf("the page loads or runs something:\n%s", page)
	}
	if t.Failed() {
		t.Log(page)
	}
}

// Hostile text in any place of a document is text, and controls no terminal.
func TestHostileText(t *testing.T) {
	var html, md strings.Builder
	if err := export.HTML(&html, document()); err != nil {
		t.Fatal(err)
	}
	if err := export.Markdown(&md, document()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{html.String(), md.String()} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == '\u202e' || r == '\ufffd' }); i >= 0 {
			t.Errorf("control character in %q", text[max(0, i-40):i+10])
		}
	}
	for _, got := range tag.FindAllString(html.String(), -1) {
		name, _, _ := strings.Cut(strings.Trim(got, "</>"), " ")
		switch name {
		case "!doctype", "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "div", "blockquote", "details", "summary", "pre", "figure", "figcaption", "section", "code", "br":
		default:
			t.Errorf("tag %q", got)
		}
	}
	if strings.Contains(html.String(), "<script") || strings.Contains(html.String(), "<img") || !strings.Contains(html.String(), "default-src 'none'") {
		t.Error("the page has a script, or no policy")
	}
	// What is not an answer is in fences longer than its own, quoted, or escaped.
	fence, inAnswer := "", false
	for line := range strings.SplitSeq(md.String(), "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "#"):
			inAnswer = line == "### Answer" || inAnswer && line == "# forged"
		case fence == "" && strings.HasPrefix(line, "`````"):
			fence = line
		case fence != "" && line == fence:
			fence = ""
		}
		if fence == "" && !inAnswer && (strings.Contains(line, "<script") || line == "# forged") {
			t.Errorf("markup in %q", line)
		}
	}
	if fence != "" {
		t.Error("a fence is open at the end")
	}
}
