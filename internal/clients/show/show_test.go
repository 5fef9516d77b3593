package show_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/show"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSafe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\x1b[31mb": `a\x1b[31mb`, "a\nb": `a\nb`, "a\tb": "a    b", "\u202e": `\u202e`, "\xff": `\xff`, "日本": "日本",
	} {
		if got := show.Safe(text, show.Style{}).Text(); got != want {
			t.Errorf("Safe(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSGR(t *testing.T) {
	t.Parallel()
	line := show.Line{
		show.Safe("a", show.Style{Color: show.Red, Bold: true}), show.Safe("b", show.Style{}),
		show.Safe("c", show.Style{Color: show.BrightBlue, Underline: true}), show.Safe("d", show.Style{Color: show.Green}), show.Safe("", show.Style{Bold: true}),
	}
	if got, want := line.SGR(true), "\x1b[1;31ma\x1b[0mb\x1b[4;94mc\x1b[0m\x1b[32md\x1b[0m"; got != want {
		t.Errorf("with colours %q, want %q", got, want)
	}
	if got, want := line.SGR(false), "\x1b[1ma\x1b[0mb\x1b[4mc\x1b[0md"; got != want {
		t.Errorf("without %q, want %q", got, want)
	}
	if got := line.In(show.Style{Dim: true, Color: show.Cyan})[1].Style(); got != (show.Style{Dim: true, Color: show.Cyan}) {
		t.Errorf("in a style: %+v", got)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	first, rest := show.Plain("* ", show.Style{}), show.Plain("  ", show.Style{})
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"one two three", 12, "* one two/  three"}, {"one  two", 12, "* one  two"}, {"one", 0, "* one"}, {"", 12, "* "},
		{"abcdefghijklmnop", 12, "* abcdefghij/  klmnop"}, {"a 日本日本日本", 13, "* a/  日本日本日/  本"}, {"one two", 1, "* one two"},
		{" lead", 12, "*  lead"},
	} {
		var got []string
		for _, l := range show.Wrap(show.Line{show.Safe(c.text, show.Style{})}, first, rest, c.columns) {
			got = append(got, l.String())
		}
		if strings.Join(got, "/") != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.text, c.columns, strings.Join(got, "/"), c.want)
		}
	}
	words := show.Line{show.Safe("ab", show.Style{Bold: true}), show.Safe("cd ef", show.Style{}), show.Safe("gh", show.Style{Bold: true})}
	if got := show.Wrap(words, nil, nil, 10); len(got) != 1 || got[0].String() != "abcd efgh" {
		t.Errorf("a word of two styles: %v", got)
	}
	code := show.WrapAnywhere(show.Line{show.Safe("if  x {  y  }", show.Style{})}, nil, nil, 10)
	if len(code) != 2 || code[0].String() != "if  x {  y" || code[1].String() != "  }" {
		t.Errorf("code: %q", code)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	line := show.Line{show.Safe("abc", show.Style{Bold: true}), show.Safe("def", show.Style{})}
	for columns, want := range map[int]string{6: "abcdef", 5: "abcd…", 4: "abc…", 3: "ab…", 1: "…"} {
		if got := line.Fit(columns).String(); got != want {
			t.Errorf("Fit(%d) = %q, want %q", columns, got, want)
		}
	}
	if got := show.Text("a\tb\r\n\nc\n", show.Style{}); len(got) != 3 || got[0].String() != "a    b" || !got[1].Blank() {
		t.Errorf("Text: %q", got)
	}
}

func TestTheme(t *testing.T) {
	line := show.Line{show.Safe("a", show.Style{Color: show.Yellow, Bold: true}), show.Safe("b", show.Style{}), show.Safe("c", show.Style{Color: show.Blue})}
	for _, c := range []struct {
		theme show.Theme
		want  string
	}{
		{show.Theme{}, "\x1b[1;33ma\x1b[0mb\x1b[34mc\x1b[0m"}, {show.Light, "\x1b[1;35ma\x1b[0mb\x1b[34mc\x1b[0m"}, {show.Dark, "\x1b[1;33ma\x1b[0mb\x1b[94mc\x1b[0m"},
	} {
		if got := c.theme.In(line).SGR(true); got != c.want {
			t.Errorf("it is %q, want %q", got, c.want)
		}
	}
	if got := show.Light.In(nil); got != nil {
		t.Errorf("nothing becomes %v", got)
	}
}
