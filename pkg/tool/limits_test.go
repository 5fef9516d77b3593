package tool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

func limits(t *testing.T, c tool.LimitsConfig) *tool.Limits {
	t.Helper()
	l, err := tool.NewLimits(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// numbered is n lines of width bytes each, newline included.
func numbered(n, width int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%0*d\n", width-1, i+1)
	}
	return b.String()
}

func keepAt(path string) func(string) (string, error) {
	return func(string) (string, error) { return path, nil }
}

func TestLimitDefaultsAndPrecedence(t *testing.T) {
	plain := limits(t, tool.LimitsConfig{})
	for name, want := range map[string]tool.Limit{
		"anything":  {MaxBytes: 16384, MaxLines: 500, Strategy: "head_tail", HeadPercent: 50},
		"read_file": {MaxBytes: 16384, MaxLines: 500, Strategy: "head", HeadPercent: 50},
		"shell":     {MaxBytes: 16384, MaxLines: 500, Strategy: "head_tail", HeadPercent: 20},
		"repo_map":  {MaxBytes: 10000, MaxLines: 1000, Strategy: "head_tail", HeadPercent: 50},
	} {
		if got := plain.For(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	set := limits(t, tool.LimitsConfig{
		Default: tool.Limit{MaxBytes: 1000, Strategy: tool.StrategyTail},
		Tools:   map[string]tool.Limit{"shell": {MaxLines: 20}, "repo_map": {MaxBytes: 3000}},
	})
	for name, want := range map[string]tool.Limit{
		"anything":  {MaxBytes: 1000, MaxLines: 500, Strategy: "tail", HeadPercent: 50},
		"read_file": {MaxBytes: 1000, MaxLines: 500, Strategy: "head", HeadPercent: 50},
		"shell":     {MaxBytes: 1000, MaxLines: 20, Strategy: "tail", HeadPercent: 20},
		"repo_map":  {MaxBytes: 3000, MaxLines: 1000, Strategy: "tail", HeadPercent: 50},
	} {
		if got := set.For(name); got != want {
			t.Errorf("configured, %s: %+v, want %+v", name, got, want)
		}
	}
}

func TestNewLimitsRefuses(t *testing.T) {
	for _, c := range []struct {
		limit tool.Limit
		want  string
	}{
		{tool.Limit{MaxBytes: 255}, "max_bytes must be at least 256"},
		{tool.Limit{MaxBytes: -1}, "max_bytes"},
		{tool.Limit{MaxLines: 1}, "max_lines must be at least 2"},
		{tool.Limit{HeadPercent: 100}, "1 to 99"},
		{tool.Limit{Strategy: "middle"}, "head_tail, head, tail or summarize"},
	} {
		_, err := tool.NewLimits(tool.LimitsConfig{Tools: map[string]tool.Limit{"x": c.limit}})
		if err == nil || !strings.Contains(err.Error(), "tool_output.tools.x: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.limit, err)
		}
		if _, err := tool.NewLimits(tool.LimitsConfig{Default: c.limit}); item.ReasonOf(err) != "BAD_LIMIT" {
			t.Errorf("%+v as default: %v", c.limit, err)
		}
	}
}

// A tool that pages has nothing to summarise.
func TestPagesAreNotSummarised(t *testing.T) {
	summarize := tool.Limit{Strategy: tool.StrategySummarize}
	for name, want := range map[string]string{"read_file": "BAD_LIMIT", "repo_map": "", "shell": "", "x": ""} {
		_, err := tool.NewLimits(tool.LimitsConfig{Default: summarize, Tools: map[string]tool.Limit{name: summarize}})
		if got := item.ReasonOf(err); got != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No result exceeds the bound, whatever the limit of its tool and the length of its
// summary.
func TestWholeResultsAreBounded(t *testing.T) {
	large := map[string]tool.Limit{"large": {MaxBytes: 1 << 20, MaxLines: 100_000}}
	summary, content := strings.Repeat("s", 1000), numbered(20_000, 50)
	for most, want := range map[int]int{0: 64 << 10, 1024: 1024, 300_000: 300_000} {
		l := limits(t, tool.LimitsConfig{Tools: large, MaxResultBytes: most})
		kept := ""
		got := l.Apply("large", tool.Output{Summary: summary, Content: content}, func(full string) (string, error) {
			kept = full
			return "/s/1", nil
		})
		if size := len(got.Text()); size > want || size < want-200 || kept != content || got.Cut.SpoolPath != "/s/1" {
			t.Errorf("bound %d: %d bytes, %d kept, cut %+v", most, size, len(kept), got.Cut)
		}
		if again := l.Apply("large", got, nil); again != got {
			t.Errorf("bound %d: applied again it differs", most)
		}
	}
	if _, err := tool.NewLimits(tool.LimitsConfig{MaxResultBytes: 1023}); item.ReasonOf(err) != "BAD_LIMIT" {
		t.Errorf("too small a bound: %v", err)
	}
}

func TestApplyLeavesWhatFits(t *testing.T) {
	l := limits(t, tool.LimitsConfig{})
	for name, content := range map[string]string{
		"empty":     "",
		"bytes":     strings.Repeat("x", 16384),
		"lines":     numbered(500, 10),
		"last line": strings.TrimSuffix(numbered(500, 10), "\n"),
	} {
		in := tool.Output{Summary: "s", Content: content, Kind: item.OutputSearch, Path: "p", Sticky: true}
		got := l.Apply("x", in, func(string) (string, error) { t.Errorf("%s: kept", name); return "", nil })
		if got != in {
			t.Errorf("%s was changed to %.200v", name, got)
		}
	}
}

func TestApplyStrategies(t *testing.T) {
	const marker = "[cut: %d of %d bytes, %d of %d lines; full text in /s/1 (read_file or search it)]"
	text := numbered(100, 50)
	for _, c := range []struct {
		name       string
		limit      tool.Limit
		head, tail int // lines kept
	}{
		// 1,000 bytes minus the marker's 85 and two newlines are 18 lines.
		{"head_tail", tool.Limit{MaxBytes: 1000}, 9, 9},
		{"head_tail 20", tool.Limit{MaxBytes: 1000, HeadPercent: 20}, 3, 15},
		{"head", tool.Limit{MaxBytes: 1000, Strategy: tool.StrategyHead}, 18, 0},
		{"tail", tool.Limit{MaxBytes: 1000, Strategy: tool.StrategyTail}, 0, 18},
		{"lines", tool.Limit{MaxLines: 11}, 5, 5},
		{"lines 20", tool.Limit{MaxLines: 11, HeadPercent: 20}, 2, 8},
		{"lines head", tool.Limit{MaxLines: 11, Strategy: tool.StrategyHead}, 10, 0},
		{"lines tail", tool.Limit{MaxLines: 11, Strategy: tool.StrategyTail}, 0, 10},
		{"two lines", tool.Limit{MaxLines: 2}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limits(t, tool.LimitsConfig{Default: c.limit})
			var full string
			got := l.Apply("x", tool.Output{Summary: "s", Content: text}, func(s string) (string, error) { full = s; return "/s/1", nil })
			kept := (c.head + c.tail) * 50
			want := text[:c.head*50] + fmt.Sprintf(marker, 5000-kept, 5000, 100-c.head-c.tail, 100)
			if c.tail > 0 {
				want += "\n" + text[5000-c.tail*50:]
			}
			if got.Content != want {
				t.Errorf("got\n%s\nwant\n%s", got.Content, want)
			}
			cut := item.Cut{TotalBytes: 5000, TotalLines: 100, KeptBytes: int64(kept), KeptLines: int64(c.head + c.tail), SpoolPath: "/s/1"}
			if got.Cut == nil || *got.Cut != cut {
				t.Errorf("cut %+v, want %+v", got.Cut, cut)
			}
			if full != text {
				t.Error("keep did not get the whole text")
			}
		})
	}
}

func TestApplyCutsAnEndlessLineOnARuneEdge(t *testing.T) {
	l := limits(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 1000}})
	text := strings.Repeat("日本", 50_000)
	got := l.Apply("x", tool.Output{Summary: "s", Content: text}, nil)
	if !utf8.ValidString(got.Content) || len(got.Content) < 985 || len(got.Content) > 1000 {
		t.Errorf("%d bytes, valid %v", len(got.Content), utf8.ValidString(got.Content))
	}
	if got.Cut.TotalLines != 1 || got.Cut.KeptLines != 1 {
		t.Errorf("cut %+v", got.Cut)
	}
	if !strings.Contains(got.Content, " of 300000 bytes, 0 of 1 lines; the full text was not kept]") {
		t.Errorf("content %s", got.Content)
	}
}

func TestApplyUsesTheRoomThatOneLongLineLeaves(t *testing.T) {
	l := limits(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 4000}})
	for name, text := range map[string]string{
		"long line first": strings.Repeat("x", 100_000) + "\nend\n",
		"long line last":  "start\n" + strings.Repeat("x", 100_000),
		"between":         "start\n" + strings.Repeat("x", 100_000) + "\nend\n",
	} {
		got := l.Apply("x", tool.Output{Summary: "s", Content: text}, nil)
		if len(got.Content) < 3980 || len(got.Content) > 4000 {
			t.Errorf("%s: %d bytes of 4000", name, len(got.Content))
		}
	}
}

func TestApplyWhenTheTextCannotBeKept(t *testing.T) {
	l := limits(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 300}})
	long := tool.Output{Summary: "s", Content: numbered(100, 20)}
	for name, c := range map[string]struct {
		keep func(string) (string, error)
		path string
		want string
	}{
		"no keep":   {nil, "", "the full text was not kept]"},
		"failing":   {func(string) (string, error) { return "/half", errors.New("disk full") }, "", "the full text was not kept]"},
		"long path": {keepAt("/" + strings.Repeat("p", 300)), "/" + strings.Repeat("p", 300), "the full text is kept in a file]"},
		"odd path":  {keepAt("/a\nb"), "/a\nb", "the full text is kept in a file]"},
	} {
		got := l.Apply("x", long, c.keep)
		if got.Cut == nil || got.Cut.SpoolPath != c.path || !strings.Contains(got.Content, c.want) || len(got.Content) > 300 {
			t.Errorf("%s: %+v %s", name, got.Cut, got.Content)
		}
	}
}

func TestApplyRepairsAndBounds(t *testing.T) {
	l := limits(t, tool.LimitsConfig{})
	got := l.Apply("x", tool.Output{Summary: "a\x00" + strings.Repeat("b", 500), Content: "ok\xff\xfe日"}, nil)
	tooltest.CheckOutput(t, got)
	if got.Content != "ok??日" {
		t.Errorf("content %q", got.Content)
	}
	huge := strings.Repeat("line\n", 1000)
	got = l.Apply("x", tool.Output{Summary: huge, IsError: true}, nil)
	if got.Summary != "1000 lines | line…" || got.Cut == nil || got.Cut.TotalLines != 1000 || !got.IsError {
		t.Errorf("a huge summary became %q, %+v", got.Summary, got.Cut)
	}
}

// An output that its tool has cut keeps its totals and has one marker.
func TestApplyGoesOnWithTheToolsOwnCut(t *testing.T) {
	text := numbered(1000, 50)
	wide := limits(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 8000}})
	first := wide.Apply("shell", tool.Output{Summary: "s", Content: text}, keepAt("/s/1"))
	refuse := func(string) (string, error) { t.Error("keep was called"); return "", nil }
	if again := wide.Apply("shell", first, refuse); again != first {
		t.Errorf("what fits was changed: %+v", again.Cut)
	}
	narrow := limits(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 1000}})
	got := narrow.Apply("shell", first, refuse)
	want := narrow.Apply("shell", tool.Output{Summary: "s", Content: text}, keepAt("/s/1"))
	if got.Content != want.Content || *got.Cut != *want.Cut {
		t.Errorf("cut twice:\n%s\n%+v\ncut once:\n%s\n%+v", got.Content, got.Cut, want.Content, want.Cut)
	}

	own := tool.Output{Summary: "s", Content: numbered(50, 50) + "(and 2500 more)\n",
		Cut: &item.Cut{TotalBytes: 127_500, TotalLines: 2550, KeptBytes: 2500, KeptLines: 50}}
	got = narrow.Apply("x", own, refuse)
	if got.Cut.TotalBytes != 127_500 || got.Cut.TotalLines != 2550 || got.Cut.KeptBytes > 1000 || strings.Count(got.Content, "[cut: ") != 1 {
		t.Errorf("own words: %+v\n%s", got.Cut, got.Content)
	}
}

// checkApply checks what is true for every output and limit.
func checkApply(t interface {
	Helper()
	Errorf(string, ...any)
}, limit tool.Limit, l *tool.Limits, content string) {
	t.Helper()
	kept := 0
	got := l.Apply("x", tool.Output{Summary: "s", Content: content}, func(full string) (string, error) {
		kept++
		if full != content {
			t.Errorf("keep got %d bytes of %d", len(full), len(content))
		}
		return "/spool/0001", nil
	})
	lines := strings.Count(got.Content, "\n")
	if got.Content != "" && !strings.HasSuffix(got.Content, "\n") {
		lines++
	}
	if len(got.Content) > limit.MaxBytes || lines > limit.MaxLines {
		t.Errorf("%d bytes and %d lines exceed %+v", len(got.Content), lines, limit)
	}
	if !utf8.ValidString(got.Content) {
		t.Errorf("the content is not UTF-8")
	}
	if again := l.Apply("x", got, nil); again != got {
		t.Errorf("applied again it differs")
	}
	if got.Cut == nil {
		if kept != 0 || utf8.ValidString(content) && got.Content != content {
			t.Errorf("changed without a cut")
		}
		return
	}
	cut := *got.Cut
	if kept != 1 || cut.TotalBytes != int64(len(content)) || cut.SpoolPath != "/spool/0001" {
		t.Errorf("kept %d times, cut %+v of %d bytes", kept, cut, len(content))
	}
	// The kept text is a prefix and a suffix of the whole: remove the marker.
	marker := fmt.Sprintf("[cut: %d of %d bytes, %d of %d lines; ", cut.TotalBytes-cut.KeptBytes, cut.TotalBytes, cut.TotalLines-cut.KeptLines, cut.TotalLines)
	head, rest, found := strings.Cut(got.Content, marker)
	if !found {
		t.Errorf("no marker %q in %q", marker, got.Content)
		return
	}
	_, tail, _ := strings.Cut(rest, "]")
	tail = strings.TrimPrefix(tail, "\n")
	if int64(len(head)+len(tail)) != cut.KeptBytes {
		head = strings.TrimSuffix(head, "\n")
	}
	repaired := tool.Repair(content)
	if int64(len(head)+len(tail)) != cut.KeptBytes || !strings.HasPrefix(repaired, head) || !strings.HasSuffix(repaired, tail) {
		t.Errorf("kept %d bytes, counted %d", len(head)+len(tail), cut.KeptBytes)
	}
}

func TestApplyProperty(t *testing.T) {
	text := rapid.Custom(func(rt *rapid.T) string {
		piece := rapid.OneOf(
			rapid.Just("\n"), rapid.Just("日"), rapid.Just("\xe6\x97"), rapid.Just("[cut: 1 of 2 bytes, "),
			rapid.StringN(0, 40, 200), rapid.Just(strings.Repeat("y", 500)), rapid.Just("short\n"))
		return strings.Join(rapid.SliceOfN(piece, 0, 80).Draw(rt, "pieces"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		limit := tool.Limit{
			MaxBytes:    rapid.IntRange(256, 1500).Draw(rt, "bytes"),
			MaxLines:    rapid.IntRange(2, 40).Draw(rt, "lines"),
			Strategy:    rapid.SampledFrom([]tool.Strategy{tool.StrategyHeadTail, tool.StrategyHead, tool.StrategyTail}).Draw(rt, "strategy"),
			HeadPercent: rapid.IntRange(1, 99).Draw(rt, "percent"),
		}
		checkApply(rt, limit, limits(t, tool.LimitsConfig{Default: limit}), text.Draw(rt, "text"))
	})
}

func FuzzApply(f *testing.F) {
	f.Add(strings.Repeat("a\n", 300), uint16(300), uint8(10), uint8(0))
	f.Add(strings.Repeat("日", 300), uint16(256), uint8(2), uint8(1))
	f.Add(strings.Repeat("\xff", 300)+"\n", uint16(260), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, content string, bytes uint16, lines, kind uint8) {
		limit := tool.Limit{
			MaxBytes: max(int(bytes), 256), MaxLines: max(int(lines), 2), HeadPercent: 1 + int(kind)%99,
			Strategy: []tool.Strategy{tool.StrategyHeadTail, tool.StrategyHead, tool.StrategyTail}[kind%3],
		}
		checkApply(t, limit, limits(t, tool.LimitsConfig{Default: limit}), content)
	})
}

// A streaming tool returns the two ends of its capture unchanged.
func TestFitOfTwoEnds(t *testing.T) {
	limit := limits(t, tool.LimitsConfig{Default: tool.Limit{MaxBytes: 1000}}).For("x")
	text := strings.Repeat("日\xff", 30_000)
	cut := item.Cut{TotalBytes: int64(len(text)), TotalLines: 1, SpoolPath: "/s/1"}
	got, c := limit.Fit(text[:1001], text[len(text)-1001:], nil, cut)
	want, _ := limit.Fit(text, text, nil, cut)
	if got != want || !utf8.ValidString(got) || len(got) > 1000 || c.KeptBytes < 900 {
		t.Errorf("%+v\n%s\nfrom the whole\n%s", c, got, want)
	}
}

// looked counts the texts that a redactor searched.
type looked struct{ texts *int }

func (l looked) Redact(text string) string {
	if text != "" {
		*l.texts++
	}
	return strings.ReplaceAll(text, "hunter2", "[redacted]")
}

func (looked) Live(report func(string)) (func(string), func()) { return report, func() {} }

// An output is searched for secrets once: when it is cleaned, not when it is fitted.
func TestOutputsAreRedactedOnce(t *testing.T) {
	texts := 0
	l := limits(t, tool.LimitsConfig{Redactor: looked{&texts}})
	out := l.Clean(tool.Output{Summary: "the password is hunter2", Content: numbered(5000, 20) + "hunter2"})
	got := l.Apply("x", out, keepAt("/s/1"))
	if text := got.Text(); strings.Contains(text, "hunter2") || !strings.Contains(text, "[redacted]") || got.Cut == nil {
		t.Errorf("it says %q", text)
	}
	if texts != 2 {
		t.Errorf("%d texts were searched, want the summary and the content", texts)
	}
}
