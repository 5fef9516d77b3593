package sanitize_test

import (
	"testing"

	"podd/internal/sanitize"
)

func TestHidden(t *testing.T) {
	for in, want := range map[string]int{
		"":                           0,
		"plain größe 日本\n\ttext\r\n": 0,
		"👩‍❤️‍👨 1️⃣":                 0,
		`a literal \u202e`:           0,
		"rm -rf \u202eevil\u202c":    2,
		"\x1b[31m\xff\u200b\r":       4,
		"a\u200db":                   1,
		"\U000e0041\U000e0042":       2,
	} {
		if got := sanitize.Hidden(in); got != want {
			t.Errorf("%+q has %d hidden characters, want %d", in, got, want)
		}
	}
}

// What is shown as it is has nothing hidden, and the other way round.
func FuzzHidden(f *testing.F) {
	f.Add("a\u202eb")
	f.Add("x\r\ny")
	f.Fuzz(func(t *testing.T, in string) {
		hidden, shown := sanitize.Hidden(in), sanitize.Terminal(in)
		if hidden == 0 && len(shown) > len(in) || hidden > len(in) || sanitize.Hidden(shown) != 0 {
			t.Fatalf("%+q has %d hidden characters and is shown as %+q", in, hidden, shown)
		}
	})
}
