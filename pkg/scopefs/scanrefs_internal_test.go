package scopefs

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The pieces joined are the text, plain pieces are never adjacent, and a reference begins
// with @ and names something.
func FuzzParseRefs(f *testing.F) {
	for _, seed := range []string{
		"", "@", "see @a.go:10-20, (@\"b c\":3)", "a@b @@c \"@d\",'@e'", "@x:1:2: @...", "“@a” @\"\\\"\\\\\"", "@\"a\nb\" \xff@\xff",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, odd bool) {
		exists := func(path string) bool { return len(path)%2 == 1 == odd }
		var joined strings.Builder
		plain := false
		for _, p := range ParseRefs(text, exists) {
			joined.WriteString(p.Source)
			if p.Ref.Path == "" {
				if plain || p.Source == "" {
					t.Fatalf("plain piece %q behind another, or empty", p.Source)
				}
				plain = true
				continue
			}
			plain = false
			if !strings.HasPrefix(p.Source, "@") || len(p.Source) <= len("@") {
				t.Fatalf("a reference %+v from %q", p.Ref, p.Source)
			}
			if len(p.Ref.Path) > maxRefBytes || p.Ref.StartLine < 0 || p.Ref.StartLine == 0 && p.Ref.EndLine != 0 {
				t.Fatalf("reference %+v is out of bounds", p.Ref)
			}
		}
		if joined.String() != text {
			t.Fatalf("pieces joined are %q, the text is %q", joined.String(), text)
		}
	})
}

func FuzzCutRunes(f *testing.F) {
	f.Add("héllo", 2)
	f.Add("日本", 4)
	f.Add("\x80\x80\x80\x80", 2)
	f.Fuzz(func(t *testing.T, s string, most int) {
		got := CutRunes(s, most)
		if !strings.HasPrefix(s, got) || len(got) > max(most, 0) {
			t.Fatalf("CutRunes(%q, %d) = %q", s, most, got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("CutRunes(%q, %d) = %q cuts a character", s, most, got)
		}
		if len(got) < len(s) && len(got)+utf8.UTFMax <= most {
			t.Fatalf("CutRunes(%q, %d) = %q cuts too much", s, most, got)
		}
	})
}

// However many @ a text contains, each needs at most a few accesses to the disk.
func TestParseRefsAsksLittle(t *testing.T) {
	asked := 0
	exists := func(string) bool { asked++; return false }
	for _, unit := range []string{"(@", "\"@a\",", "@a ", "@", "@\"", "@)))))))))))))) ", "@a:1:1 "} {
		asked = 0
		n := 1 << 17 / len(unit)
		ParseRefs(strings.Repeat(unit, n), exists)
		if limit := (maxTail + 2) * n; asked > limit {
			t.Errorf("%q %d times: exists was asked %d times, at most %d are fine", unit, n, asked, limit)
		}
	}
}

// However many @ and blanks that a keyboard does not have a run contains, each @ costs the same memory:
// the run is searched for these blanks once.
func TestParseRefsSearchesARunOnce(t *testing.T) {
	exists := func(string) bool { return false }
	each := func(n int) float64 {
		text := strings.Repeat("(@\u202f", n)
		return testing.AllocsPerRun(1, func() { ParseRefs(text, exists) }) / float64(n)
	}
	if few, many := each(64), each(4096); many > few+1 { // The last few have fewer blanks behind them.
		t.Errorf("each of 64 @ costs %.2f allocations, each of 4,096 costs %.2f", few, many)
	}
}
