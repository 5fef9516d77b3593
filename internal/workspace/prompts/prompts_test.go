package prompts

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/pkg/item"
)

// with is a prompt with arguments that were typed, as text.
func with(p Prompt, typed string) (string, error) {
	list, err := p.With([]item.Segment{item.TextSegment{Text: typed}})
	text := ""
	for _, s := range list {
		text += s.(item.TextSegment).Text
	}
	return text, err
}

func TestPlaces(t *testing.T) {
	named := Prompt{Name: "p", Args: []string{"file", "focus"}, Needed: true}
	may := Prompt{Name: "p", Args: []string{"file", "focus"}}
	for _, c := range []struct {
		prompt            Prompt
		text, typed, want string
	}{
		{named, "Review $FILE for $focus; all: $ARGUMENTS. $$1 $$ $HOME", `'a b.go' speed`, "Review a b.go for speed; all: 'a b.go' speed. $1 $$ $HOME"},
		{named, "$FILE", "", "/p needs file"},
		{may, "$file|$ARGUMENTS", `it isn't "so`, `it|it isn't "so`},
		{Prompt{}, "$2", `it isn't`, "isn't"},
		{may, "$file:$focus.", "one", "one:."},
		{Prompt{}, "$1 and $2 of $9", "a b", "a and b of $9"},
		{Prompt{}, "from $1 to $0", "a b", "from b to a"},
		{Prompt{}, `awk '\$0' $1`, "a", "awk '$0' a"},
		{Prompt{}, `$ARGUMENTS[1] \$ARGUMENTS[0] $ARGUMENTS[7] \$1 \$HOME`, "a b", `b $ARGUMENTS[0] $ARGUMENTS[7] $1 \$HOME`},
		{Prompt{}, "PR of $FILE: $TITLE, $HOME", `FILE=a.go TITLE="x y"`, "PR of a.go: x y, $HOME"},
		{Prompt{}, "$1st $10", "a", "$1st $10\n\na"},
		{Prompt{}, "Go.", "a  b", "Go.\n\na  b"},
		{Prompt{}, "Now: !`git status`.", "", "Now: !`git status`.\n\n[Run the commands marked with ! above yourself first: their output belongs where they are.]"},
		{Prompt{}, "```!\nls\n```", "", "```!\nls\n```\n\n[Run the commands marked with ! above yourself first: their output belongs where they are.]"},
		{Prompt{}, "Stop!`x` now", "", "Stop!`x` now"},
	} {
		c.prompt.Text = c.text
		got, err := with(c.prompt, c.typed)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.text, c.typed, got, c.want)
		}
	}
}

// A name finds a whole one before the end of one, and what cannot be used says so.
func TestFind(t *testing.T) {
	list := []Prompt{{Name: "front:test", Text: "front"}, {Name: "test", Text: "whole"}, {Name: "guard:front:lint", Text: "lint"}, {Name: "bad", Wrong: errors.New("it says nothing")}}
	for name, want := range map[string]string{"test": "whole", "front:test": "front", "lint": "lint", "front:lint": "lint", "prompts:test": "whole", "nt:test": "", "none": ""} {
		if p, ok := Find(list, name); p.Text != want || ok != (want != "") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if _, err := with(list[3], ""); err == nil || err.Error() != "/bad cannot be used: it says nothing" || list[3].Description() != "Cannot be used: it says nothing" {
		t.Errorf("%v, %q", err, list[3].Description())
	}
}

// Whatever a prompt and its arguments are, an argument stays as it was typed.
func FuzzPrompt(f *testing.F) {
	f.Add("$A $1 $$1 $ARGUMENTS $ARGUMENTS[1] $0", `x "y z" \q A=b`)
	f.Add("", "'")
	f.Fuzz(func(t *testing.T, text, typed string) {
		filled, err := with(Prompt{Name: "p", Args: []string{"a"}, Text: text}, typed)
		if err == nil && utf8.ValidString(text) && utf8.ValidString(typed) && !utf8.ValidString(filled) {
			t.Errorf("%q with %q gives %q", text, typed, filled)
		}
		if got, err := with(Prompt{Text: "<$ARGUMENTS>"}, typed); err == nil && utf8.ValidString(typed) && got != "<"+strings.TrimSpace(typed)+">" {
			t.Errorf("%q became %q", typed, got)
		}
	})
}

// A paste without a name is an argument and stays a paste. What else comes with the prompt stays behind it. The result is bounded.
func TestSegments(t *testing.T) {
	p := Prompt{Text: "Look at $1, then $2.\n"}
	paste, file := item.PasteSegment{Text: "x @y\n"}, item.FileRef{Path: "a.go"}
	got, err := p.With([]item.Segment{item.TextSegment{Text: "it "}, paste, file, item.TextSegment{Text: "@more"}})
	want := []item.Segment{item.TextSegment{Text: "Look at it, then "}, paste, item.TextSegment{Text: ".\n"}, file, item.TextSegment{Text: "@more"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v, want %#v", got, err, want)
	}
	if _, err := with(Prompt{Name: "p", Text: strings.Repeat("$1", 1000)}, strings.Repeat("x", 10_000)); err == nil || !strings.Contains(err.Error(), "/p has more than 1048576 bytes") {
		t.Errorf("too much: %v", err)
	}
}

// A slash that begins no name begins text.
func TestCalled(t *testing.T) {
	for text, want := range map[string]string{"/a-b": "a-b|", "/a x\ny": "a|x\ny", "/a\nx": "a|x", " /a": "|", "/etc/hosts is": "|", "/A": "A|", "/guard:Fix.it x": "guard:Fix.it|x", "/a/b": "|", "/": "|", "": "|"} {
		if name, typed, _ := Called(text); name+"|"+typed != want {
			t.Errorf("%q: %q, %q, want %q", text, name, typed, want)
		}
	}
}
