package scopefs_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// exist makes the exists function of ParseRefs from the names of files.
func exist(paths ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(paths, path) }
}

// parse returns what ParseRefs finds as segments.
func parse(in string, exists func(string) bool) (list []item.Segment) {
	for _, p := range scopefs.ParseRefs(in, exists) {
		if p.Ref.Path == "" {
			list = append(list, item.TextSegment{Text: p.Source})
		} else {
			list = append(list, p.Ref)
		}
	}
	return list
}

func text(s string) item.Segment { return item.TextSegment{Text: s} }

func ref(path string, lines ...int) item.Segment {
	r := item.FileRef{Path: path}
	if len(lines) > 0 {
		r.StartLine = lines[0]
	}
	if len(lines) > 1 {
		r.EndLine = lines[1]
	}
	return r
}

func TestParseRefs(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		files []string
		want  []item.Segment
	}{
		{"nothing", "", nil, nil},
		{"text", "no reference", nil, []item.Segment{text("no reference")}},
		{"at the start", "@main.go", nil, []item.Segment{ref("main.go")}},
		{"after a space", "see @main.go please", nil, []item.Segment{text("see "), ref("main.go"), text(" please")}},
		{"after a newline", "see\n@main.go", nil, []item.Segment{text("see\n"), ref("main.go")}},
		{"after a no-break space", "see\u00a0@a\u00a0b", nil, []item.Segment{text("see\u00a0"), ref("a"), text("\u00a0b")}},
		{"two", "@a @b", nil, []item.Segment{ref("a"), text(" "), ref("b")}},
		{"directory", "@src/ and @.", []string{"."}, []item.Segment{ref("src/"), text(" and "), ref(".")}},
		{"absolute and parent", "@/etc/x @../y", nil, []item.Segment{ref("/etc/x"), text(" "), ref("../y")}},
		{"other scripts", "@docs/日本語.md。", nil, []item.Segment{ref("docs/日本語.md。")}},

		{"address", "mail a@b.org", nil, []item.Segment{text("mail a@b.org")}},
		{"after a comma or colon", "a,@b c:@d", nil, []item.Segment{text("a,@b c:@d")}},
		{"alone", "@", nil, []item.Segment{text("@")}},
		{"alone between spaces", "at @ noon", nil, []item.Segment{text("at @ noon")}},
		{"double", "@@types/node @b", nil, []item.Segment{text("@@types/node "), ref("b")}},
		{"only punctuation", "@... @!", nil, []item.Segment{text("@... @!")}},

		{"trailing comma", "@a.go, @b.go.", nil, []item.Segment{ref("a.go"), text(", "), ref("b.go"), text(".")}},
		{"many trailing", "(really @a.go?!)", nil, []item.Segment{text("(really "), ref("a.go"), text("?!)")}},
		{"trailing, but such a file", "@a.go, @b.", []string{"a.go,"}, []item.Segment{ref("a.go,"), text(" "), ref("b"), text(".")}},
		{"part of the trailing is the name", "(@a(1).)", []string{"a(1)"}, []item.Segment{text("("), ref("a(1)"), text(".)")}},
		{"longest existing name", "@a..", []string{"a", "a.", "a.."}, []item.Segment{ref("a..")}},
		{"brackets", "(@a) [@b] {@c} <@d>", nil, []item.Segment{
			text("("), ref("a"), text(") ["), ref("b"), text("] {"), ref("c"), text("} <"), ref("d"), text(">")}},
		{"bracket in the name", "@a[1]/b", nil, []item.Segment{ref("a[1]/b")}},

		{"in quotes", `"@a" '@b', ` + "`@c`.", nil, []item.Segment{
			text(`"`), ref("a"), text(`" '`), ref("b"), text("', `"), ref("c"), text("`.")}},
		{"in typographic quotes", "“@a” ‘@b’ «@c» „@d“", nil, []item.Segment{
			text("“"), ref("a"), text("” ‘"), ref("b"), text("’ «"), ref("c"), text("» „"), ref("d"), text("“")}},
		{"a list in quotes", `["@a","@b"]`, nil, []item.Segment{
			text(`["`), ref("a"), text(`","`), ref("b"), text(`"]`)}},
		{"a quote that opened elsewhere", `"see @a"`, nil, []item.Segment{text(`"see `), ref(`a"`)}},
		{"empty in quotes", `"@"`, nil, []item.Segment{text(`"@"`)}},

		{"quoted", `@"a b"`, nil, []item.Segment{ref("a b")}},
		{"quoted, then text", `@"a b", c`, nil, []item.Segment{ref("a b"), text(", c")}},
		{"quoted keeps punctuation", `@"a b."`, nil, []item.Segment{ref("a b.")}},
		{"quoted range", `@"a b":10-20.`, nil, []item.Segment{ref("a b", 10, 20), text(".")}},
		{"quoted line", `@"a b":10`, nil, []item.Segment{ref("a b", 10)}},
		{"no range in the quotes", `@"a:10-20"`, nil, []item.Segment{ref("a:10-20")}},
		{"quoted escapes", `@"a\"b\\c\d"`, nil, []item.Segment{ref(`a"b\c\d`)}},
		{"unclosed quote", `@"a b`, nil, []item.Segment{text(`@"a b`)}},
		{"quote over two lines", "@\"a\nb\"", nil, []item.Segment{text("@\"a\nb\"")}},
		{"empty quotes", `@""`, nil, []item.Segment{text(`@""`)}},
		{"an @ in quotes", `@"@types/node"`, nil, []item.Segment{ref("@types/node")}},
		{"range behind quotes without a number", `@"a b":x`, nil, []item.Segment{ref("a b"), text(":x")}},

		{"range", "@a.go:10-20", nil, []item.Segment{ref("a.go", 10, 20)}},
		{"line", "@a.go:10", nil, []item.Segment{ref("a.go", 10)}},
		{"range before punctuation", "(@a.go:10-20),", nil, []item.Segment{text("("), ref("a.go", 10, 20), text("),")}},
		{"line before a colon", "@a.go:10: error", nil, []item.Segment{ref("a.go", 10), text(": error")}},
		{"line and column", "@a.go:10:5: error", nil, []item.Segment{ref("a.go", 10), text(":5: error")}},
		{"a file of that name", "@a.go:10-20 @b:1", []string{"a.go:10-20", "b:1"}, []item.Segment{ref("a.go:10-20"), text(" "), ref("b:1")}},
		{"a range of a file with a number", "@a:1:5", []string{"a:1"}, []item.Segment{ref("a:1", 5)}},
		{"a file with line and column", "@a:1:5", []string{"a:1:5"}, []item.Segment{ref("a:1:5")}},
		{"backwards is for the reader of the file", "@a:20-10", nil, []item.Segment{ref("a", 20, 10)}},
		{"line zero is a name", "@a:0 @a:0-5", nil, []item.Segment{ref("a:0"), text(" "), ref("a:0-5")}},
		{"half a range is a name", "@a:10-", nil, []item.Segment{ref("a:10-")}},
		{"a number too long is a name", "@a:1234567890", nil, []item.Segment{ref("a:1234567890")}},
		{"a range without a path", "@:10", nil, []item.Segment{ref(":10")}},

		{"a leading dash", "@-rf", nil, []item.Segment{ref("-rf")}},
		{"not UTF-8", "\xff@a @b\xff", nil, []item.Segment{text("\xff@a "), ref("b\xff")}},
		{"too long for a path", "@" + strings.Repeat("a", 5000) + " @b", nil, []item.Segment{
			text("@" + strings.Repeat("a", 5000) + " "), ref("b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := parse(tt.in, exist(tt.files...))
			if !slices.Equal(got, tt.want) {
				t.Errorf("ParseRefs(%q)\n got %#v\nwant %#v", tt.in, got, tt.want)
			}
		})
	}
}

func TestFormatRef(t *testing.T) {
	tests := []struct {
		ref  item.Segment
		want string
	}{
		{ref("a/b.go"), "@a/b.go"},
		{ref("."), "@."},
		{ref("a.go", 10, 20), "@a.go:10-20"},
		{ref("a.go", 10), "@a.go:10"},
		{ref("a b", 10), `@"a b":10`},
		{ref("a:10"), `@"a:10"`},
		{ref("a."), `@"a."`},
		{ref("@types"), `@"@types"`},
		{ref(`a"b\`), `@"a\"b\\"`},
		{ref("a\nb"), `@"a\nb"`},
		{ref("a\u202eb"), `@"a\u202eb"`},
	}
	for _, tt := range tests {
		if got := scopefs.FormatRef(tt.ref.(item.FileRef)); got != tt.want {
			t.Errorf("FormatRef(%+v) = %s, want %s", tt.ref, got, tt.want)
		}
	}
}

// ParseRefs reads a text of FormatRef back as the same reference, in any surroundings
// that a user might put it into, whether or not the file exists.
func TestFormatRefIsReadBack(t *testing.T) {
	printable := rapid.StringOfN(rapid.RuneFrom([]rune("ab./:-10, @\"'`<>()[]{}!?;\\é日“”")), 1, 12, -1).
		Filter(func(s string) bool { return strings.TrimSpace(s) == s })
	rapid.Check(t, func(t *rapid.T) {
		want := item.FileRef{Path: printable.Draw(t, "path")}
		if want.Path == "." {
			want.Path = "./"
		}
		want.StartLine = rapid.IntRange(0, 30).Draw(t, "start")
		if want.StartLine > 0 {
			want.EndLine = rapid.IntRange(0, 30).Draw(t, "end")
		}
		var files []string
		if rapid.Bool().Draw(t, "exists") {
			files = append(files, want.Path)
		}
		around := rapid.SampledFrom([][2]string{
			{"", ""}, {"see ", " now"}, {"(", ")."}, {`"`, `"`}, {"'", "', "}, {"<", ">"}, {"\n", "\n"}, {"“", "”"},
		}).Draw(t, "around")
		in := around[0] + scopefs.FormatRef(want) + around[1]
		if got := parse(in, exist(files...)); !slices.Contains(got, item.Segment(want)) {
			t.Fatalf("%q gives %#v, want %#v among it", in, got, want)
		}
	})
}
