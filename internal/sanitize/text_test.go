package sanitize_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"podd/internal/sanitize"
)

func TestTerminal(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":                   {"go test ./...: ok", "go test ./...: ok"},
		"empty":                   {"", ""},
		"newline and tab":         {"a\n\tb\n", "a\n\tb\n"},
		"other scripts":           {"naïve Größe 日本語 한국어 العربية עברית हिन्दी", "naïve Größe 日本語 한국어 العربية עברית हिन्दी"},
		"combining mark":          {"e\u0301", "e\u0301"},
		"a real U+FFFD":           {"a\ufffdb", "a\ufffdb"},
		"backslash":               {`C:\x1b`, `C:\x1b`},
		"arabic number sign":      {"\u0600\u0661", "\u0600\u0661"},
		"colour":                  {"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		"clipboard, OSC 52":       {"\x1b]52;c;aGk=\x07", `\x1b]52;c;aGk=\x07`},
		"device control":          {"\x1bP+q\x1b\\", `\x1bP+q\x1b\`},
		"backspace, bell, NUL":    {"a\b\a\x00", `a\x08\x07\x00`},
		"delete":                  {"\x7f", `\x7f`},
		"vertical tab, form feed": {"\v\f", `\x0b\x0c`},
		"C1 as a rune":            {"\u009b31m\u0085\u0080\u009f", `\u009b31m\u0085\u0080\u009f`},
		"C1 as a byte":            {"\x9b31m", `\x9b31m`},
		"CR LF":                   {"a\r\nb\r\n", "a\nb\n"},
		"CR alone":                {"50%\r100%\r", `50%\r100%\r`},
		"CR CR LF":                {"a\r\r\n", "a\\r\n"},
		"invalid UTF-8":           {"a\xffb\xc3", `a\xffb\xc3`},
		"cut rune":                {"a\xe2\x82", `a\xe2\x82`},
		"overlong ESC":            {"\xc0\x9b", `\xc0\x9b`},
		"surrogate":               {"\xed\xa0\x80", `\xed\xa0\x80`},
		"bidi override":           {"user\u202etxt.exe", `user\u202etxt.exe`},
		"bidi isolates, marks":    {"\u2066\u2069\u200e\u200f\u061c", `\u2066\u2069\u200e\u200f\u061c`},
		"zero width":              {"pay\u200bpal\ufeff\u2060", `pay\u200bpal\ufeff\u2060`},
		"soft hyphen":             {"a\u00adb", `a\u00adb`},
		"line separators":         {"a\u2028b\u2029", `a\u2028b\u2029`},
		"blank letters":           {"\u115f\u3164\uffa0\u034f", `\u115f\u3164\uffa0\u034f`},
		"tag characters":          {"a\U000e0041\U000e0001", `a\U000e0041\U000e0001`},
		"variation selectors":     {"a\ufe0f\u4e00\ufe00\U000e0100", `a\ufe0f一\ufe00\U000e0100`},
		"family":                  {"👨‍👩‍👧 here", "👨‍👩‍👧 here"},
		"heart, flag, skin tone":  {"👩‍❤️‍👨 🏴‍☠️ 👩🏽‍🚀 🙂‍↔️ 🇫🇷", "👩‍❤️‍👨 🏴‍☠️ 👩🏽‍🚀 🙂‍↔️ 🇫🇷"},
		"keycap and symbols":      {"1️⃣ #️⃣ ©️ ‼️ ℹ️ ↔️ ⤴️ ☎︎", "1️⃣ #️⃣ ©️ ‼️ ℹ️ ↔️ ⤴️ ☎︎"},
		"joiners of scripts":      {"می\u200cخواهم ක්\u200dෂ র\u200d্য न्\u200d", "می\u200cخواهم ක්\u200dෂ র\u200d্য न्\u200d"},
		"two of them":             {"م\u200c\u200cخ", `م` + "\u200c" + `\u200cخ`},
		"non-joiner in a word":    {"a\u200cb 漢\u200c字", `a\u200cb 漢\u200c字`},
		"joiner in a word":        {"a\u200db", `a\u200db`},
		"joiner at the end":       {"👨\u200d", `👨\u200d`},
		"joiner before a letter":  {"👨\u200da", `👨\u200da`},
		"two joiners":             {"👨\u200d\u200d👩", `👨\u200d\u200d👩`},
		"joiner after an escape":  {"👨\u200b\u200d👩", `👨\u200b\u200d👩`},
		"two selectors":           {"❤\ufe0f\ufe0f", "❤\ufe0f" + `\ufe0f`},
		"selector after escape":   {"❤\u200b\ufe0f", `❤\u200b\ufe0f`},
		"selector first":          {"\ufe0f", `\ufe0f`},
	} {
		if got := sanitize.Terminal(c.in); got != c.want {
			t.Errorf("%s: Terminal(%+q) = %+q, want %+q", name, c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"a\nb\n":                 `a\nb\n`,
		"a\tb":                   `a\tb`,
		"a\r\nb":                 `a\nb`,
		"a\rb":                   `a\rb`,
		"a\u2028b\u0085c\v":      `a\u2028b\u0085c\x0b`,
		"\x1b[2J":                `\x1b[2J`,
		"level=info\nlevel=warn": `level=info\nlevel=warn`,
		"👨‍👩‍👧":                  "👨‍👩‍👧",
	} {
		if got := sanitize.Line(in); got != want {
			t.Errorf("Line(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

// Every rune and every byte is safe, after a letter and after a symbol.
func TestEveryRune(t *testing.T) {
	const page = 256
	for first := rune(0); first <= unicode.MaxRune; first += page {
		var in strings.Builder
		for r := first; r < first+page; r++ {
			in.WriteString("a" + string(r) + "❤" + string(r))
		}
		wantSafe(t, sanitize.Terminal(in.String()))
	}
	for b := range 256 {
		wantSafe(t, sanitize.Terminal(string([]byte{'a', byte(b)})))
	}
}

// Safe text, the usual case, is not copied.
func TestSafeTextIsNotCopied(t *testing.T) {
	in := strings.Repeat("main.go:12: größer als 3\n", 10)
	if n := testing.AllocsPerRun(100, func() { sanitize.Terminal(in) }); n != 0 {
		t.Errorf("Terminal allocates %v times", n)
	}
}

// wantSafe fails if s contains anything that a terminal acts on or hides. It is written
// from the terminal's point of view, by number, not from the package's tables.
func wantSafe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%+q is not valid UTF-8", s)
	}
	runes := []rune(s)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return 0
		}
		return runes[i]
	}
	for i, r := range runes {
		switch {
		case (r == 0x200c || r == 0x200d) && at(i-1) >= 0x600 && at(i-1) < 0x1c00 && (unicode.IsLetter(at(i-1)) || unicode.IsMark(at(i-1))):
		case r == '\n' || r == '\t':
		case r < 0x20, r >= 0x7f && r <= 0x9f:
			t.Fatalf("%+q has the control character %U", s, r)
		case r == 0x200d:
			if before, after := at(i-1), at(i+1); before < 0x00a6 || after < 0x00a6 || unicode.IsLetter(before) || unicode.IsLetter(after) || after == 0x200d {
				t.Fatalf("%+q has a joiner between %U and %U", s, before, after)
			}
		case r == 0xfe0e || r == 0xfe0f:
			if before := at(i - 1); before < 0x20 || unicode.IsLetter(before) && before != 0x2139 || unicode.IsMark(before) {
				t.Fatalf("%+q has a variation selector after %U", s, before)
			}
		case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x61c,
			r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0x180e, r == 0x3164, r == 0xffa0, r == 0xfeff,
			r >= 0xfff9 && r <= 0xfffb, r >= 0xfe00 && r <= 0xfe0d, r >= 0xe0000 && r <= 0xe0fff:
			t.Fatalf("%+q has the invisible %U", s, r)
		}
	}
}

// For any text the result is safe, does not change when sanitised again, and is one line
// where it must be.
func FuzzTerminal(f *testing.F) {
	for _, seed := range []string{
		"plain\r\n", "\x1b[31m\x9b\u009b", "👩‍❤️‍👨\u200d", "\xf0\x9f\x91", "\u202e\ufeff\U000e0041", "1\ufe0f\u20e3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		terminal, line := sanitize.Terminal(in), sanitize.Line(in)
		wantSafe(t, terminal)
		wantSafe(t, line)
		if again := sanitize.Terminal(terminal); again != terminal {
			t.Fatalf("%+q became %+q when sanitised again", terminal, again)
		}
		if again := sanitize.Line(line); again != line {
			t.Fatalf("%+q became %+q when sanitised again", line, again)
		}
		if strings.ContainsAny(line, "\n\t") {
			t.Fatalf("%+q is not one line", line)
		}
	})
}

func BenchmarkTerminal(b *testing.B) {
	for name, text := range map[string]string{
		"safe":    strings.Repeat("ok  podd/pkg/store 0.1s größer\n", 500),
		"colours": strings.Repeat("\x1b[32mok\x1b[0m  podd/pkg/store 0.1s\r\n", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				sanitize.Terminal(text)
			}
		})
	}
}
