package tool_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/tool"
)

func TestSummarized(t *testing.T) {
	l := tool.Limit{MaxBytes: 400, MaxLines: 4}
	whole := item.Cut{TotalBytes: 90_000, TotalLines: 3000, SpoolPath: "/s/1"}
	for name, c := range map[string]struct {
		text string
		read int64
		cut  item.Cut
		want string
	}{
		"whole":        {" it failed\n", 90_000, whole, "[summarized by m from 90000 bytes, 3000 lines; the full text is in /s/1 (read_file or search it)]\nit failed"},
		"in part":      {"it failed", 500, whole, "[summarized by m from 90000 bytes, 3000 lines; it read 500 bytes of them, from both ends; the full text is in /s/1 (read_file or search it)]\nit failed"},
		"not kept":     {"it failed", 20, item.Cut{TotalBytes: 20, TotalLines: 5}, "[summarized by m from 20 bytes, 5 lines; the full text was not kept]\nit failed"},
		"long path":    {"x", 20, item.Cut{TotalBytes: 20, TotalLines: 5, SpoolPath: strings.Repeat("/s", 200)}, "[summarized by m from 20 bytes, 5 lines; the full text is kept in a file]\nx"},
		"many lines":   {"a\nb\nc\nd", 90_000, whole, "[summarized by m from 90000 bytes, 3000 lines; the full text is in /s/1 (read_file or search it)]\na\nb\n[the rest of the summary was left out]"},
		"empty":        {" \n", 90_000, whole, ""},
		"not shorter":  {"12345678901234567890", 20, item.Cut{TotalBytes: 20, TotalLines: 5}, ""},
		"not UTF-8":    {"a\xffb", 90_000, whole, "[summarized by m from 90000 bytes, 3000 lines; the full text is in /s/1 (read_file or search it)]\na?b"},
		"line in path": {"x", 20, item.Cut{TotalBytes: 20, TotalLines: 5, SpoolPath: "/a\nb"}, "[summarized by m from 20 bytes, 5 lines; the full text is kept in a file]\nx"},
	} {
		got, cut, ok := l.Summarized(c.text, "m", c.read, c.cut)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if ok && (cut.KeptBytes == 0 || cut.KeptLines == 0 || cut.TotalBytes != c.cut.TotalBytes || cut.SpoolPath != c.cut.SpoolPath) {
			t.Errorf("%s: cut %+v", name, cut)
		}
	}
}

// A summary fits its limit, is valid text, and does not report more as kept than there
// was; the limits do not change it.
func TestSummarizedFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := tool.Limit{MaxBytes: rapid.IntRange(256, 2000).Draw(t, "bytes"), MaxLines: rapid.IntRange(2, 20).Draw(t, "lines"), Strategy: tool.StrategySummarize}
		limits, err := tool.NewLimits(tool.LimitsConfig{Default: limit})
		if err != nil {
			t.Fatal(err)
		}
		whole := item.Cut{TotalBytes: rapid.Int64Range(0, 4000).Draw(t, "total"), TotalLines: rapid.Int64Range(0, 40).Draw(t, "total lines"), SpoolPath: rapid.String().Draw(t, "path")}
		text := strings.Join(rapid.SliceOf(rapid.StringN(0, 200, -1)).Draw(t, "text"), "\n")
		model := rapid.StringMatching(`[a-z0-9./-]{0,80}`).Draw(t, "model")
		content, cut, ok := limit.Summarized(text, model, whole.TotalBytes/2, whole)
		if !ok {
			return
		}
		if len(content) > limit.MaxBytes || strings.Count(content, "\n") >= limit.MaxLines || !utf8.ValidString(content) {
			t.Errorf("%d bytes over %+v: %q", len(content), limit, content)
		}
		if cut.KeptBytes > cut.TotalBytes || cut.KeptLines > cut.TotalLines || cut.KeptBytes > int64(len(content)) {
			t.Errorf("cut %+v", cut)
		}
		out := tool.Output{Summary: "s", Content: content, Cut: &cut}
		if again := limits.Apply("x", out, nil); again != out {
			t.Errorf("applied: %+v", again)
		}
	})
}
