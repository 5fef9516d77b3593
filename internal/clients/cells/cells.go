package cells

import (
	"iter"

	"github.com/clipperhouse/displaywidth"
)

// Width is how many columns text takes.
func Width(text string) int { return displaywidth.String(text) }

// Graphemes are the graphemes of text in order, each with its columns.
func Graphemes(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		g := displaywidth.StringGraphemes(text)
		for g.Next() {
			if !yield(g.Value(), g.Width()) {
				return
			}
		}
	}
}

// Split divides text behind the last grapheme that ends within columns. The head has at
// least one grapheme, so that who repeats it comes to an end.
func Split(text string, columns int) (head, rest string) {
	at, used := 0, 0
	for g, w := range Graphemes(text) {
		if used+w > columns && at > 0 {
			return text[:at], text[at:]
		}
		at, used = at+len(g), used+w
	}
	return text, ""
}

// Fit cuts text to columns and ends it with an ellipsis if it was longer.
func Fit(text string, columns int) string {
	used, last, at := 0, 0, 0
	for g, w := range Graphemes(text) {
		if used+w > columns {
			if columns < 1 {
				return ""
			}
			return text[:last] + "…"
		}
		at, used = at+len(g), used+w
		// Up to here there is room for the ellipsis too.
		if used < columns {
			last = at
		}
	}
	return text
}
