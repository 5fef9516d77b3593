package attach

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// of makes blocks with the given numbers of lines; each line names its place.
func of(sizes []int) layouts {
	return func(b int) (lines []line) {
		for i := range sizes[b] {
			lines = append(lines, in(plain, fmt.Sprintf("%d.%d", b, i)))
		}
		return lines
	}
}

func all(sizes []int) (lines []string) {
	for b := range sizes {
		for _, l := range of(sizes)(b) {
			lines = append(lines, l.String())
		}
	}
	return lines
}

// The screen shows consecutive whole lines. Up and down move by that many lines; the
// first line stops the way up, and at the bottom the view is live again.
func TestScroll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 12).Draw(t, "sizes")
		rows := rapid.IntRange(1, 8).Draw(t, "rows")
		lines := all(sizes)
		var s scroll
		last := len(lines) // Below the last line on the screen.
		for range rapid.IntRange(0, 20).Draw(t, "moves") {
			by := rapid.IntRange(-6, 6).Draw(t, "by")
			s.move(of(sizes), len(sizes), rows, by)
			last = min(max(last+by, min(rows, len(lines))), len(lines))
			pg := s.page(of(sizes), len(sizes), rows)
			want := lines[max(last-rows, 0):last]
			if len(pg.lines) != len(want) {
				t.Fatalf("%d lines on the screen, want %q", len(pg.lines), want)
			}
			for i, l := range pg.lines {
				if l.String() != want[i] {
					t.Fatalf("line %d is %s, want %q", i, l, want)
				}
			}
			if s.up != (last < len(lines)) {
				t.Fatalf("up is %v at %d of %d", s.up, last, len(lines))
			}
		}
	})
}

// Lines that arrive at the end do not move a scrolled view.
func TestScrolledStays(t *testing.T) {
	sizes := []int{3, 3, 3, 0}
	var s scroll
	s.move(of(sizes), len(sizes), 2, -3)
	before := s.page(of(sizes), len(sizes), 2).lines
	grown := []int{3, 3, 3, 5, 4, 0}
	if after := s.page(of(grown), len(grown), 2).lines; fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v became %v", before, after)
	}
	s = scroll{}
	if after := s.page(of(grown), len(grown), 2).lines; after[1].String() != "4.3" {
		t.Errorf("the live end is %v", after)
	}
}
