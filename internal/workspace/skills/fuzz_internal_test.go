package skills

import (
	"strings"
	"testing"
	"unicode/utf8"

	"podd/internal/sanitize"
)

// Any SKILL.md is either refused or gives texts that can be sent.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\nname: a\ndescription: b\n---\nbody", "---\r\nname: 'a-b'\r\ndescription: |\r\n  b\r\n  c\r\n---\r\nx\r\n",
		"---\na: &a [*a]\n---\nx", "---\n? {a: b}\n: c\n---\nx", "---\nname: !!binary YQ==\ndescription: \u202eb\n---\n\xff", "---\n---\n", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, body, err := parse("x/SKILL.md", text)
		if err != nil {
			if body != "" || !utf8.ValidString(err.Error()) && utf8.Valid(text) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		if !nameForm.MatchString(h.name) || h.description == "" || strings.Contains(h.description, "\n") || utf8.RuneCountInString(h.description) > maxDescription ||
			!utf8.ValidString(body) || strings.TrimSpace(body) == "" || sanitize.Terminal(h.description+body) != h.description+body {
			t.Errorf("%+v %q", h, body)
		}
	})
}
