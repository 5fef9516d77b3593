package cells_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"podd/internal/clients/cells"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "👨‍👩‍👧": 2, "🇩🇪": 2, "❤️": 2, "…": 1, "한": 2,
	} {
		if got := cells.Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"a👨‍👩‍👧b", 3, "a…"}, {"a👨‍👩‍👧", 3, "a👨‍👩‍👧"}, {"ab", 1, "…"}, {"ab", 0, ""}, {"", 0, ""},
	} {
		if got := cells.Fit(c.text, c.columns); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func FuzzWidth(f *testing.F) {
	f.Add("a👨‍👩‍👧b日本", 3)
	f.Add("e\u0301\u0301x\xff", 1)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = columns&0x3f + 1
		if utf8.ValidString(text) && cells.Width(cells.Fit(text, columns)) > columns {
			t.Errorf("Fit(%q, %d) = %q takes %d columns", text, columns, cells.Fit(text, columns), cells.Width(cells.Fit(text, columns)))
		}
		var all strings.Builder
		for rest, head := text, ""; rest != ""; all.WriteString(head) {
			if head, rest = cells.Split(rest, columns); head == "" {
				t.Fatalf("Split(%q, %d) does not advance", text, columns)
			}
		}
		if all.String() != text {
			t.Errorf("the pieces of %q are %q", text, all.String())
		}
	})
}
