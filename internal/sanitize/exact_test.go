package sanitize_test

import (
	"strings"
	"testing"

	"podd/internal/sanitize"
)

func TestExact(t *testing.T) {
	for in, want := range map[string]int{
		"":                           0,
		"plain größe 日本\n\ttext\r\n": 0,
		"ทำน้ำคำ กำ นํ้ ນ້ຳ हिन्दी क्षमा ক্ষুদ্র தமிழ் க்ஷ ක්ෂ ខ្មែរ မြန်မာ བོད་": 0,
		"é ñ ệ e\u0301 שָׁ֖ مُحَمَّد ᄒ\u1161\u11ab 하\u11ab 👍🏽 🇩🇪 辻 ⠿":             0,
		"👩‍❤️‍👨": 3, "1️⃣": 2, "❤️": 1, "❤︎": 1, "می\u200cخواهم": 1, "ක්\u200dෂ": 1, "葛\U000e0100": 1,
		// A mark without a character, the same twice, and more than a terminal keeps.
		"\u0301a": 1, "rm \u0332b": 1, "\n\u0301": 1, "\u200b\u0301\u0302": 3, "e\u0301\u0301": 1, "กำำ": 1, "काा": 1, "ｶﾞﾞ": 1,
		"e" + strings.Repeat("\u0301\u0302", 6): 2,
		// What is drawn in one place with other text.
		"क" + strings.Repeat("्क", 5): 1, "कार्त्स्न्य": 1, "a🏽": 1, "👍🏽🏽": 1, "\u0600x": 1, "ᄒᄒ\u1161": 2, "a\u1161": 1, "각\u11a8": 1, "\ue000\U0001fbff\U0010fffd": 3,
		`a literal \u202e`:        0,
		"rm -rf \u202eevil\u202c": 2,
		"\x1b[31m\xff\u200b\r":    4,
		"a\u200db":                1,
		"\U000e0041\U000e0042":    2,
		"rm\u00a0-rf\u2800/":      2,
		"\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000": 15,
		"\u115f\u1160\u3164\uffa0\u034f\u180e\ufeff\u2060\u17b4":                                     9,
		"\U0001d159\U00016fe4": 2,
	} {
		shown, got := sanitize.Exact(in)
		if got != want || want == 0 && shown != strings.ReplaceAll(in, "\r\n", "\n") {
			t.Errorf("%+q has %d hidden characters, want %d: %q", in, got, want, shown)
		}
	}
	if shown, _ := sanitize.Exact("rm\u00a0-rf\u2800/\t"); shown != `rm\u00a0-rf\u2800/`+"\t" {
		t.Errorf("shown as %q", shown)
	}
	// Terminal keeps the spaces of a language: it is not for text that a person decides on.
	if shown := sanitize.Terminal("« oui »\u3000"); shown != "« oui »\u3000" {
		t.Errorf("shown as %q", shown)
	}
}

// Text that shows unchanged hides nothing, and text that hides nothing shows unchanged.
func FuzzExact(f *testing.F) {
	f.Add("a\u202eb\u00a0")
	f.Add("x\r\ny")
	f.Fuzz(func(t *testing.T, in string) {
		shown, hidden := sanitize.Exact(in)
		again, more := sanitize.Exact(shown)
		if hidden == 0 && len(shown) > len(in) || hidden > len(in) || more != 0 || again != shown || sanitize.Terminal(shown) != shown {
			t.Fatalf("%+q has %d hidden characters and is shown as %+q", in, hidden, shown)
		}
	})
}
