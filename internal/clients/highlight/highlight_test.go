package highlight_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/highlight"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func marked(tokens []highlight.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		if t.Kind == highlight.Text {
			b.WriteString(t.Text)
			continue
		}
		b.WriteString("csk#"[t.Kind-1:t.Kind] + "{" + t.Text + "}")
	}
	return b.String()
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, code, want string }{
		{"go", "func f(x int) string { // it's\n\treturn \"a\\\"b\" + `c\nd` + 'e', 0x1f\n}", "k{func} f(x k{int}) k{string} { c{// it's}\n\tk{return} s{\"a\\\"b\"} + s{`c\nd`} + s{'e'}, #{0x1f}\n}"},
		{"Python", "def f():\n  \"\"\"doc\n  \"\"\"\n  return x1 # no", "k{def} f():\n  s{\"\"\"doc\n  \"\"\"}\n  k{return} x1 c{# no}"},
		{"sh", "if [ \"$#\" = 1 ]; then echo it's; fi # end", "k{if} [ s{\"$#\"} = #{1} ]; k{then} k{echo} it's; k{fi} c{# end}"},
		{"sql", "SELECT a -- all\nFROM t", "k{SELECT} a c{-- all}\nk{FROM} t"},
		{"c", "#include <a.h>\n/* x", "k{#include} <a.h>\nc{/* x}"},
		{"rust", "fn f<'a>() {}", "k{fn} f<'a>() {}"},
		{"text", "if x", "if x"}, {"", "if", "if"}, {"go", "", ""},
		{"go", strings.Repeat("if ", highlight.MaxCode/2), strings.Repeat("if ", highlight.MaxCode/2)},
	} {
		if got := marked(highlight.Code(c.language, c.code)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.language, got, c.want)
		}
	}
}

func FuzzCode(f *testing.F) {
	for _, language := range []string{"go", "py", "sh", "sql", "html", "css", "yaml", "lua"} {
		f.Add(language, "if \"a\\\" 'b' /* # c */ -- <!-- 1.5e3 `x` \xff日本")
	}
	f.Fuzz(func(t *testing.T, language, code string) {
		var all strings.Builder
		for _, token := range highlight.Code(language, code) {
			all.WriteString(token.Text)
		}
		if all.String() != code {
			t.Errorf("the tokens of %q are %q", code, all.String())
		}
	})
}
