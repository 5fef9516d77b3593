package markdown_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/markdown"
	"podd/internal/clients/show"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// marked is lines as text in which *{...} are styles, which a test can read.
func marked(lines []show.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			mark := ""
			for _, a := range []struct {
				on   bool
				name string
			}{
				{s.Style().Bold, "b"}, {s.Style().Italic, "i"}, {s.Style().Underline, "u"}, {s.Style().Dim, "d"},
				{s.Style().Strike, "s"}, {s.Style().Color == show.Cyan, "c"},
				{s.Style().Color == show.Green, "G"}, {s.Style().Color == show.Red, "R"}, {s.Style().Color == show.Magenta, "M"},
			} {
				if a.on {
					mark += a.name
				}
			}
			if mark == "" {
				b.WriteString(s.Text())
			} else {
				b.WriteString(mark + "{" + s.Text() + "}")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"prose", "Some *words* and **bold** `code` ~~old~~.\nmore", "Some i{words} and b{bold} c{code} s{old}. more\n"},
		{"headings", "# One\n## Two\nText\n\nThree\n---\n### Four ###\n", "bu{One}\n\nb{Two}\n\nText\n\nb{Three}\n\nbi{Four}\n"},
		{"wrapped", strings.Repeat("word ", 12), "word word word word word word word word\nword word word word\n"},
		{"long word", strings.Repeat("x", 45), strings.Repeat("x", 40) + "\nxxxxx\n"},
		{"lists", "1. one\n2. two\n   - a\n   - b\n\n     c\n", "d{1. }one\nd{2. }two\n   d{• }a\n\n   d{• }b\n\n     c\n"},
		{"tight", "- one\n- two\n  more\n    - deep\n", "d{• }one\nd{• }two more\n  d{• }deep\n"},
		{"tasks", "- [ ] a\n- [x] b\n- [y] c\n", "d{• }[ ] a\nd{• }[x] b\nd{• }[y] c\n"},
		{"quote", "> a\n> > b\n", "d{│ }a\nd{│ }\nd{│ }d{│ }b\n"},
		{"code", "```\na\tb\n\n  c\n```\n", "  a    b\n\n    c\n"},
		{"colours", "```go\nfunc f() // `x\n\n\ts := `a\n\nb`\n```\n", "  M{func} f() id{// `x}\n\n      s := G{`a}\n\n  G{b`}\n"},
		{"a diff", "```diff\n@@ -1 +1 @@\n-a\n+b\n c\n```\n", "  c{@@ -1 +1 @@}\n  R{-a}\n  G{+b}\n   c\n"},
		{"indented", "    a\n    b\n", "  a\n  b\n"},
		{"html", "<b>x</b> &lt;\n\n<div>\nhi\n</div>\n", "<b>x</b> <\n\n<div>\nhi\n</div>\n"},
		{"links", "[a](http://b/c?d&e) <http://x> [http://y](http://y) ![pic](p.png) [e]()", "a (u{http://b/c?d&e}) u{http://x} u{http://y} pic\n(u{p.png}) e\n"},
		{"definitions", "[a] is\n\n[a]: http://b\n\n[a] again\n", "[a] is\n\na (u{http://b}) again\n"},
		{"escapes", `\*a\* &amp;amp; &#42; \&amp;`, "*a* &amp; * &amp;\n"},
		{"breaks", "a  \nb\\\nc", "a\nb\nc\n"},
		{"control", "a\x1b[31mb &#27;[2J &#x9b; \u202e `\x1b` [x](\x1bq)", "a\\x1b[31mb \\x1b[2J \\u009b \\u202e c{\\x1b} x\n(u{\\x1bq})\n"},
		{"table", "T:\n| a | b |\n|:-:|--:|\n| **x** | `1\\|2` |\n| long one |\n", "T:\n\n   b{a}    d{ │ }  b{b}\nd{─────────┼────}\n   b{x}    d{ │ }c{1|2}\nlong oned{ │ }   \n"},
		{"wide table", "| key | value |\n|---|---|\n| a | " + strings.Repeat("x ", 20) + "|\n| b | y |\n", "b{key: }a\nb{value: }x x x x x x x x x x x x x x x x x\n  x x x\n\nb{key: }b\nb{value: }y\n"},
		{"rule", "a\n\n---\nb", "a\n\nd{" + strings.Repeat("─", 40) + "}\n\nb\n"},
		{"no table", "a | b\n--\n", "b{a | b}\n"},
		{"empty", "\n\n", ""},
	} {
		if got := marked(markdown.Blocks(c.text, 40)); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

// inPieces streams a text in pieces of n bytes.
func inPieces(text string, n int) (lines []show.Line) {
	s := markdown.NewStream(40)
	for len(text) > n {
		s.Write(text[:n])
		text = text[n:]
		lines = append(lines, s.Final()...)
		s.Tail()
	}
	s.Write(text)
	s.End()
	return append(lines, s.Final()...)
}

// TestPagesInPieces streams podd's own pages.
func TestPagesInPieces(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := marked(inPieces(string(text), 53)), marked(markdown.Blocks(string(text), 40)); got != want {
			t.Errorf("%s in pieces is\n%s", page, got)
		}
	}
}

func TestTailOfAnUnfinishedText(t *testing.T) {
	t.Parallel()
	s := markdown.NewStream(40)
	s.Write("# Title\n\nsome **bo")
	if got := marked(s.Final()); got != "" {
		t.Errorf("final: %q", got)
	}
	if got := marked(s.Tail()); got != "bu{Title}\n\nsome **bo\n" {
		t.Errorf("tail: %q", got)
	}
	s.Write("ld** text\n-")
	if got := marked(s.Final()) + marked(s.Tail()); got != "bu{Title}\n\nsome b{bold} text\n" {
		t.Errorf("then: %q", got)
	}
	s.Write(" item 日"[:8])
	s.End()
	if got := marked(s.Final()); !strings.HasPrefix(got, "\nsome b{bold} text\n\nd{• }item ") || len(s.Tail()) > 0 {
		t.Errorf("at the end: %q", got)
	}
}

var ownSGR = regexp.MustCompile("\x1b\\[(([12349]|3[0-7]|9[0-7])(;([12349]|3[0-7]|9[0-7]))*|0)m")

func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{
		"# a\n\nb [c]\n\n[c]: /x\n'title\n more'\n\n[c]\n", "- a\n\n\n  b\n- c\n\nd\n===\n", "```go\nfunc\n\n~~~\n```\nx",
		"| a | b |\n|---|---|\n| 1 |\ntext\n\n> q\nlazy\n", "<div>\n\n<!--\n\n-->\nx", "\x1b[31m&#27;[2J\x9b\u202e\r\n\tx", "1. a\n 2. b\n10) c\n\n    code\n",
		"text\n[a]: /x\n| a |\n|:-|\n| b |\n\n***\n* * *\n", "0\n-:\n-\n\n\\\n", "[a]:\n/x\n\n[a]:\n\n[a]\n",
	} {
		f.Add(text, uint8(3))
		f.Add(text, uint8(16))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint8) {
		if len(text) > 1<<10 {
			return
		}
		whole := markdown.Blocks(text, 40)
		if got, want := marked(inPieces(text, int(cut)+1)), marked(whole); got != want {
			t.Errorf("%q in pieces of %d is\n%s\nwhole\n%s", text, int(cut)+1, got, want)
		}
		for _, color := range []bool{false, true} {
			for _, line := range whole {
				left := ownSGR.ReplaceAllString(line.SGR(color), "")
				if strings.ContainsFunc(left, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
					t.Errorf("%q leaves %q", text, left)
				}
			}
		}
	})
}
