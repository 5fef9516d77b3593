package export_test

import (
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/export"
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
		d.Blocks = append(d.Blocks, b)
	}
	return d
}

var tag = regexp.MustCompile(`<[^>]*>?`)

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
		case "!doctype", "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "div", "blockquote", "details", "summary", "pre":
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
