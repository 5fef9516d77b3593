package spoken_test

import (
	"testing"

	"podd/internal/spoken"
)

// A text that came in fragments needs nothing more from its entry; of one whose end was
// lost with the connection the rest is shown, and another text from its beginning.
func TestText(t *testing.T) {
	for name, tt := range map[string]struct {
		blocks [][2]string
		entry  string
		rest   string
		ok     bool
	}{
		"never shown":          {nil, "all", "all", true},
		"shown whole":          {[][2]string{{"a", "al"}, {"a", "l"}}, "all", "", true},
		"the end is missing":   {[][2]string{{"a", "al"}}, "all", "l", true},
		"another text":         {[][2]string{{"a", "other"}}, "all", "all", false},
		"the next one stands":  {[][2]string{{"a", "all"}, {"b", "x"}}, "all", "", true},
		"its end stands below": {[][2]string{{"a", "al"}, {"b", "x"}}, "all", "l", false},
	} {
		var text spoken.Text
		for _, b := range tt.blocks {
			text.Fragment(b[0], b[1])
		}
		if text.Begun() != (len(tt.blocks) > 0) || len(tt.blocks) > 0 && !text.Shows("a") {
			t.Errorf("%s: begun %v", name, text.Begun())
		}
		if rest, ok := text.Entry(tt.entry); rest != tt.rest || ok != tt.ok {
			t.Errorf("%s: %q, %v; want %q, %v", name, rest, ok, tt.rest, tt.ok)
		}
	}
}

// All text so far of a block replaces what came before.
func TestWhole(t *testing.T) {
	var text spoken.Text
	if rest, ok := text.Whole("a", "all"); rest != "all" || !ok {
		t.Errorf("%q, %v", rest, ok)
	}
	if !text.Fragment("a", "al") || text.Fragment("a", "l") {
		t.Error("a block begins once")
	}
	if rest, ok := text.Whole("a", "all of it"); rest != " of it" || !ok {
		t.Errorf("%q, %v", rest, ok)
	}
	if _, ok := text.Whole("a", "else"); ok {
		t.Error("another text goes on where the first ended")
	}
	text.Forget()
	if text.Begun() || text.Shows("a") {
		t.Error("it is not forgotten")
	}
}
