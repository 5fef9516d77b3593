package cells_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"podd/internal/clients/cells"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBoth runs a test on a terminal that draws runes, and on one that draws graphemes.
func inBoth(t *testing.T, test func(t *testing.T, clusters bool)) {
	t.Cleanup(func() { cells.Cluster(false) })
	for _, clusters := range []bool{false, true} {
		cells.Cluster(clusters)
		t.Run(fmt.Sprintf("clusters %t", clusters), func(t *testing.T) { test(t, clusters) })
	}
}

// Each text takes the columns that terminals give it, and the cursor moves as far as in tmux 3.3.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		text                     string
		runes, advance, clusters int
	}{
		{"", 0, 0, 0}, {"abc", 3, 3, 3}, {"日本", 4, 4, 4}, {"e\u0301", 1, 1, 1}, {"…", 1, 1, 1}, {"한", 2, 2, 2},
		{"กำ", 2, 2, 1}, {"น้ำ", 2, 2, 1}, {"क्षमा", 4, 4, 2}, {"हिन्दी", 5, 5, 2}, {"தமிழ்", 4, 4, 3}, {"ක්ෂ", 2, 2, 2},
		{"👨‍👩‍👧", 6, 2, 2}, {"🏴‍☠️", 3, 2, 2}, {"🇩🇪", 2, 2, 2}, {"👍🏽", 4, 4, 2}, {"❤️", 1, 1, 2}, {"1️⃣", 1, 1, 2}, {"ᄒ\u1161\u11ab", 4, 2, 2},
	} {
		inBoth(t, func(t *testing.T, clusters bool) {
			want, advance := c.runes, c.advance
			if clusters {
				want, advance = c.clusters, c.clusters
			}
			sum := 0
			for _, w := range cells.Graphemes(c.text) {
				sum += w
			}
			if got := cells.Width(c.text); got != want || sum != want || cells.Advance(c.text) != advance {
				t.Errorf("%q takes %d columns, its graphemes %d, and moves the cursor by %d", c.text, got, sum, cells.Advance(c.text))
			}
		})
	}
}

func TestFit(t *testing.T) {
	inBoth(t, func(t *testing.T, clusters bool) {
		for _, c := range []struct {
			text    string
			columns int
			want    string
		}{
			{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"a👨‍👩‍👧b", 3, "a…"}, {"a👨‍👩‍👧", 7, "a👨‍👩‍👧"}, {"ab", 1, "…"}, {"ab", 0, ""}, {"", 0, ""},
		} {
			if got := cells.Fit(c.text, c.columns); got != c.want {
				t.Errorf("Fit(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
			}
		}
	})
}

// A grapheme goes to the next line as a whole, unless it is wider than a line.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text       string
		columns    int
		alone      bool
		head, rest string
	}{
		{"a👨‍👩‍👧b", 3, true, "a", "👨‍👩‍👧b"}, {"👨‍👩‍👧b", 3, false, "", "👨‍👩‍👧b"}, {"👨‍👩‍👧b", 3, true, "👨\u200d", "👩‍👧b"}, {"漢字", 1, true, "漢", "字"}, {"", 3, true, "", ""},
	} {
		if head, rest := cells.Split(c.text, c.columns, c.alone); head != c.head || rest != c.rest {
			t.Errorf("Split(%q, %d, %t) = %q, %q", c.text, c.columns, c.alone, head, rest)
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
			if head, rest = cells.Split(rest, columns, true); head == "" || cells.Width(head) > max(columns, 2) {
				t.Fatalf("Split(%q, %d) gives %q", text, columns, head)
			}
		}
		if all.String() != text {
			t.Errorf("the pieces of %q are %q", text, all.String())
		}
	})
}
