package tool_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

func TestFromString(t *testing.T) {
	long := strings.Repeat("é", 100) + "\nsecond\n" + strings.Repeat("x", 300)
	for _, c := range []struct{ name, in, summary, content string }{
		{"empty", "", "", ""},
		{"short", "two\nlines", "two\nlines", ""},
		{"at the cap", strings.Repeat("x", 400), strings.Repeat("x", 400), ""},
		{"above the cap", strings.Repeat("x", 401), "1 lines | " + strings.Repeat("x", 80) + "…", strings.Repeat("x", 401)},
		{"runes", long, "3 lines | " + strings.Repeat("é", 80) + "…", long},
		{"short first line", "head\r\n" + long, "4 lines | head…", "head\r\n" + long},
		{"escapes", "a\x1b[31mb\tc\u009b\x7f\xff", `a\x1b[31mb` + "\t" + `c\u009b\x7f\xff`, ""},
		{"escaping makes it long", strings.Repeat("\x01", 120), "1 lines | " + strings.Repeat(`\x01`, 80) + "…", strings.Repeat("\x01", 120)},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := tool.FromString(c.in)
			if out.Summary != c.summary || out.Content != c.content {
				t.Errorf("FromString\n got %q | %q\nwant %q | %q", out.Summary, out.Content, c.summary, c.content)
			}
		})
	}
}

func TestError(t *testing.T) {
	out := tool.Error("read_file: %s does not exist", "a.go")
	if !out.IsError || out.Summary != "read_file: a.go does not exist" || out.Content != "" {
		t.Errorf("Error = %+v", out)
	}
	message := strings.Repeat("word ", 200)
	out = tool.Error("%s", message)
	if len(out.Summary) != item.MaxSummaryBytes || !strings.HasSuffix(out.Summary, "…") || out.Content != message {
		t.Errorf("a long message: summary of %d bytes, content of %d", len(out.Summary), len(out.Content))
	}
}

// A bound summary is at most MaxSummaryBytes of valid UTF-8 without control characters.
// Bounding it again changes nothing, and a clean one does not change.
func TestBoundProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 600), func(b []byte) string { return string(b) })).Draw(rt, "in")
		got := tool.Bound(in)
		if in != "" {
			tooltest.CheckOutput(t, tool.Output{Summary: got})
		}
		if again := tool.Bound(got); again != got {
			rt.Fatalf("bounded again: %q, then %q", got, again)
		}
		clean := utf8.ValidString(in) && !strings.ContainsFunc(in, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
		if clean && len(in) <= item.MaxSummaryBytes && got != in {
			rt.Fatalf("%q was changed to %q", in, got)
		}
	})
}
