package scopefs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// lookAlikes are names as systems and people make them, and what a person types for them.
var lookAlikes = []struct{ name, typed string }{
	{"Screenshot at 9.22.20\u202fPM.png", "Screenshot at 9.22.20 PM.png"},
	{"Snimek v\u00a013.05.png", "Snimek v 13.05.png"},
	{norm.NFD.String("학점.md"), norm.NFC.String("학점.md")},
	{norm.NFC.String("über.md"), norm.NFD.String("über.md")},
	{"it’s “new”.txt", `it's "new".txt`},
	{"straight's.txt", "straight’s.txt"},
	{"a–b—c.txt", "a-b-c.txt"},
	{"ＡＢＣ．md", "ABC.md"},
	{"half.txt", "ｈａｌｆ.txt"},
	{"全角　空白.md", "全角 空白.md"},
	{"zero\u200bwidth.md", "zerowidth.md"},
	{"heart❤\ufe0f.md", "heart❤.md"},
}

// A path that nothing has is the one path that looks the same, in every directory on the way.
func TestAlike(t *testing.T) {
	f, dir := workspace(t, map[string]string{"plain.txt": "", "two\u202fblanks": "", "two\u00a0blanks": "", "x/y": ""})
	for _, c := range lookAlikes {
		plant(t, dir, map[string]string{c.name: c.name, "in\u202fthe " + c.name + "/sub/" + c.name: ""})
	}
	for _, c := range lookAlikes {
		nested := "in\u202fthe " + c.name + "/sub/" + c.name
		for typed, want := range map[string]string{
			c.name: c.name, c.typed: c.name, "in the " + c.typed + "/sub/" + c.typed: nested, "./x/../" + c.typed: c.name,
			filepath.Join(dir, c.typed): filepath.Join(dir, c.name),
		} {
			if got, err := f.Alike(typed); err != nil || got != want {
				t.Errorf("Alike(%q) is %q, %v", typed, got, err)
			}
		}
		if !f.ExistsRef(c.typed) {
			t.Errorf("%q does not exist", c.typed)
		}
	}
	for _, same := range []string{"plain.txt", "none.txt", "Plain.txt", "../out", "", ".", "plain.txt/x", "x", "plain\x00"} {
		if got, err := f.Alike(same); err != nil || got != same {
			t.Errorf("Alike(%q) is %q, %v", same, got, err)
		}
	}
	_, err := f.Alike("two blanks")
	wantKind(t, err, scopefs.NotFound)
	if want := `two blanks does not exist, and several names look the same: write one of "two\u00a0blanks", "two\u202fblanks"`; err.Error() != want {
		t.Errorf("the error is %s", err)
	}
	if got, err := f.Alike("two\u202fblanks"); err != nil || got != "two\u202fblanks" {
		t.Errorf("the name itself is %q, %v", got, err)
	}
}

// A file that must not be read is not found by another name.
func TestAlikeIsGuarded(t *testing.T) {
	f, _ := workspace(t, map[string]string{"key\u00a0file": "secret"})
	g := f.Guarded(func(named string, _ []string) string {
		if strings.HasPrefix(named, "key") {
			return "is denied"
		}
		return ""
	})
	if got, err := g.Alike("key file"); err != nil || got != "key file" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A path with blanks that a keyboard does not have is read back bare, in quotes, and as FormatRef and
// Complete write it.
func TestRefsWithOddCharacters(t *testing.T) {
	f, dir := workspace(t, map[string]string{"foo.go": "", "emoji👨\u200d👩.png": "", "rtl\u202ename": "", "bad\xff": ""})
	for _, c := range lookAlikes {
		plant(t, dir, map[string]string{c.name: ""})
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		want := item.FileRef{Path: e.Name()}
		for _, text := range []string{"see " + scopefs.FormatRef(want) + " now", "(" + scopefs.FormatRef(want) + ")."} {
			got := scopefs.ParseRefs(text, f.ExistsRef)
			if !slices.ContainsFunc(got, func(p scopefs.Piece) bool { return p.Ref == want }) {
				t.Errorf("%q gives %+v", text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"@Snimek\u00a0v":                       "Snimek",
		"@foo.go\u3000と":                       "foo.go",
		"@foo.go\u00a0:":                       "foo.go",
		"@全角　空白.md, and":                       "全角　空白.md",
		"@全角　空白.md:3":                          "全角　空白.md",
		"@全角　空白.md　と":                          "全角　空白.md",
		`@"Screenshot at 9.22.20 PM.png"`:      "Screenshot at 9.22.20 PM.png",
		"@\"Snimek v\u00a013.05.png\"":         "Snimek v\u00a013.05.png",
		`@"Screenshot at 9.22.20\u202fPM.png"`: "Screenshot at 9.22.20\u202fPM.png",
		`@"none\u202f"`:                        `none\u202f`,
	} {
		got := scopefs.ParseRefs(text, f.ExistsRef)
		if !slices.ContainsFunc(got, func(p scopefs.Piece) bool { return p.Ref.Path == want }) {
			t.Errorf("%q gives %+v, want %q", text, got, want)
		}
	}
}

// What a person types completes to a name that looks so, by its beginning, its middle and its characters.
func TestCompleteLookAlikes(t *testing.T) {
	f, dir := workspace(t, map[string]string{"foo.go": "", "sub/bar.go": ""})
	for _, c := range lookAlikes {
		plant(t, dir, map[string]string{c.name: "", "deep/er/" + c.name: ""})
	}
	list := f.List(t.Context())
	for _, c := range lookAlikes {
		if strings.ContainsAny(c.name, "\u200b\ufe0f") {
			continue // Invisible characters are not offered.
		}
		half := string([]rune(c.typed)[:len([]rune(c.typed))-3])
		for _, typed := range []string{`"` + strings.ReplaceAll(c.typed, `"`, `\"`), `"` + strings.ReplaceAll(half, `"`, `\"`), `"deep/er/` + strings.ReplaceAll(half, `"`, `\"`)} {
			for kind, complete := range map[string]func() ([]string, error){
				"complete": func() ([]string, error) { return f.Complete(t.Context(), nil, typed, 0) },
				"fuzzy":    func() ([]string, error) { return f.Complete(t.Context(), list, typed, 0) },
			} {
				got, err := complete()
				must(t, err)
				found := false
				for _, text := range got {
					for _, p := range scopefs.ParseRefs("@"+text, f.ExistsRef) {
						found = found || filepath.Base(p.Ref.Path) == c.name
					}
				}
				if !found {
					t.Errorf("%s of %q gives %q, want %q", kind, typed, got, c.name)
				}
			}
		}
	}
}
