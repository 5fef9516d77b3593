package show_test

import (
	"strings"
	"testing"

	"podd/internal/clients/show"
)

func shown(lines []show.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			if s.Style().Underline {
				b.WriteString("[" + s.Text() + "]")
			} else {
				b.WriteString(s.Text())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, diff, want string }{
		{"words", "@@ -9,3 +9,3 @@\n a\n-return foo(x, 1)\n+return bar(x, 1)\n c\n", "f\n 9  a\n10 -return [foo](x, 1)\n10 +return [bar](x, 1)\n11  c\n"},
		{"unlike", "@@ -1 +1 @@\n-abc\n+xyz q\n", "f\n1 -abc\n1 +xyz q\n"},
		{"hunks", "@@ -1 +1,2 @@\n a\n+b\n@@ -20 +21 @@\n-c\n\\ No newline at end of file\n", "f\n 1  a\n 2 +b\n    …\n20 -c\n"},
		{"hostile", "@@ x\n+\x1b[2J\n\\ 3 more lines\n", "f\n0 +\\x1b[2J\n   3 more lines\n"},
		{"empty", "", "f\n"},
		{"twelve", "@@ -0,0 +1,12 @@\n" + strings.Repeat("+x\n", 12), "f\n 1 +x\n 2 +x\n 3 +x\n 4 +x\n 5 +x\n 6 +x\n 7 +x\n 8 +x\n 9 +x\n10 +x\n11 +x\n12 +x\n"},
		{"folded", "@@ -0,0 +1,13 @@\n" + strings.Repeat("+x\n", 13), "f\n1 +x\n2 +x\n3 +x\n4 +x\n5 +x\n6 +x\n7 +x\n8 +x\n  +5 more, --full\n"},
		{"wrapped", "@@ -1 +1 @@\n+" + strings.Repeat("y", 40) + "\n", "f\n1 +" + strings.Repeat("y", 37) + "\n  +yyy\n"},
	} {
		if got := shown(show.Diff("f", c.diff, false, "--full", 40)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if got := show.Diff("f", "@@ -0,0 +1,13 @@\n"+strings.Repeat("+x\n", 13), true, "", 0); len(got) != 14 {
		t.Errorf("in full it has %d lines", len(got))
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("@@ -1 +1 @@\n-a b\n+a c\n\\ x\n\r\x1b", 20)
	f.Fuzz(func(t *testing.T, diff string, width int) {
		for _, l := range show.Diff("f", diff, true, "", width&0x7f) {
			if strings.ContainsFunc(l.String(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%q shows %q", diff, l.String())
			}
		}
	})
}
