package sanitize

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
)

// The page for browsers hides the same characters as the terminal.
func TestPageHidesTheSame(t *testing.T) {
	page, err := os.ReadFile("../web/page/visible.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]func(rune) bool{
		"hidden": func(r rune) bool { return hidden(r) && r != '\n' && r != '\t' },
		"blank":  blank,
	} {
		if want := fmt.Sprintf("const %s = %q;\n", name, class(is)); !strings.Contains(string(page), want) {
			t.Errorf("internal/web/page/visible.js must have the line\n%s", want)
		}
	}
}

// class is what a regular expression of JavaScript has between brackets for some runes.
func class(is func(rune) bool) string {
	var b strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !is(r) {
			continue
		}
		from := r
		for r < unicode.MaxRune && is(r+1) {
			r++
		}
		fmt.Fprintf(&b, `\u{%x}`, from)
		if r > from {
			fmt.Fprintf(&b, `-\u{%x}`, r)
		}
	}
	return b.String()
}
