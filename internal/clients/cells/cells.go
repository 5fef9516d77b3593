package cells

import (
	"iter"
	"sync/atomic"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clusters says that the terminal draws a grapheme as one character.
var clusters atomic.Bool

// Cluster says whether the terminal of this process draws a grapheme of several runes as one
// character. Until it is known, each rune takes its own columns, as wcwidth counts them.
func Cluster(on bool) { clusters.Store(on) }

// Mode is what sets the terminal's mode again after another program has had it.
func Mode() string {
	if clusters.Load() {
		return ansi.SetModeUnicodeCore
	}
	return ""
}

// Reported takes what the terminal says of a mode, and says whether Width changes: bubbletea sets
// mode 2027 if the terminal knows it.
func Reported(mode ansi.Mode, is ansi.ModeSetting) (changed bool) {
	return mode == ansi.ModeUnicodeCore && is != ansi.ModeNotRecognized && is != ansi.ModePermanentlyReset && !clusters.Swap(true)
}

func method() ansi.Method {
	if clusters.Load() {
		return ansi.GraphemeWidth
	}
	return ansi.WcWidth
}

// Width is how many columns text takes on the screen, at most.
func Width(text string) int {
	if plain(text) {
		return len(text)
	}
	return method().StringWidth(text)
}

// plain says whether text is of printable ASCII characters.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// joiner makes one character of the runes on its two sides.
const joiner = '\u200d'

// Advance is how far text moves the cursor. It is less than Width if the terminal draws runes in
// the place of those before them: vowels and finals of Hangul, and the rune after a joiner.
func Advance(text string) int {
	n := Width(text)
	if clusters.Load() {
		return n
	}
	last := rune(0)
	for _, r := range text {
		if last == joiner || r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7fb {
			n -= Width(string(r))
		}
		last = r
	}
	return n
}

// Graphemes are the graphemes of text in order, each with its columns.
func Graphemes(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		m := method()
		for text != "" {
			g, width := text[:1], 1
			if text[0] < ' ' || text[0] > '~' || len(text) > 1 && text[1] >= utf8.RuneSelf {
				g, width = ansi.FirstGraphemeCluster(text, m)
			}
			if !yield(g, width) {
				return
			}
			text = text[len(g):]
		}
	}
}

// Split divides text behind the last grapheme that ends within columns. With alone, a grapheme
// that is wider is divided too, so that the head has at least one rune.
func Split(text string, columns int, alone bool) (head, rest string) {
	at, used := 0, 0
	for g, w := range Graphemes(text) {
		if used+w > columns {
			if at == 0 && alone {
				at = within(g, columns)
			}
			return text[:at], text[at:]
		}
		at, used = at+len(g), used+w
	}
	return text, ""
}

// within is how much of a grapheme fits into columns: its first rune at least.
func within(g string, columns int) (at int) {
	at = len(g)
	for i := range g {
		if i > 0 && (at == len(g) || Width(g[:i]) <= columns) {
			at = i
		}
	}
	return at
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
