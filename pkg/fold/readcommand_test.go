package fold_test

import (
	"strings"
	"testing"

	"podd/pkg/fold"
)

func TestReadCommand(t *testing.T) {
	reads := map[string]string{
		"cat a.go":                               "a.go",
		"  cat\ta.go  ":                          "a.go",
		"cat ./pkg//a.go":                        "pkg/a.go",
		"cat a.go\n":                             "a.go",
		"cat a.go;":                              "a.go",
		"cat -n a.go":                            "a.go",
		"cat -- -n":                              "-n",
		"cat 'a b.go'":                           "a b.go",
		`cat "a b.go"`:                           "a b.go",
		`cat a" b".go`:                           "a b.go",
		"cat über.go":                            "über.go",
		"cat a.go b.go":                          "",
		"cat a.go ./b.go":                        "",
		"cat *.go":                               "",
		"cat '*.go'":                             "*.go",
		"cat a.go && cat b.go":                   "",
		"cat a.go; sed -n 1,5p a.go":             "a.go",
		"cat a.go || cat b.go":                   "",
		"cat a.go |\n head -5":                   "a.go",
		"cat a.go\ncat a.go\n\n":                 "a.go",
		"head a.go":                              "a.go",
		"head -20 a.go":                          "a.go",
		"head -n 20 a.go":                        "a.go",
		"head -n20 a.go":                         "a.go",
		"head -c 100 -q a.go":                    "a.go",
		"tail -n +40 a.go":                       "a.go",
		"tail -5 a.go":                           "a.go",
		"nl -ba a.go":                            "a.go",
		"nl -b a a.go | sed -n '10,20p'":         "a.go",
		"nl a.go | tail -n 5 | head -n 1":        "a.go",
		"sed -n 10p a.go":                        "a.go",
		"sed -n '10,20p' a.go":                   "a.go",
		"sed -n '10,$p' a.go":                    "a.go",
		"sed -n '$p' a.go":                       "a.go",
		"sed -n '1,5p;10 , 20 p' a.go":           "a.go",
		"sed -n '1,50p;50q' a.go":                "a.go",
		"sed -n -e 1p -e 3p a.go":                "a.go",
		"sed -n '1p\n3p' a.go":                   "a.go",
		"cat a.go | sed -n 1p -":                 "a.go",
		"sed -n 1,3p a.go && sed -n 7,9p ./a.go": "",
	}
	for command, want := range reads {
		if file, _, ok := fold.ReadCommand(command); !ok || file != want {
			t.Errorf("%q: %q, %t, want %q", command, file, ok, want)
		}
	}
}

func TestNoReadCommand(t *testing.T) {
	for _, command := range []string{
		"", " ", "\n", ";", "cat", "cat -", "cat -n", "head -5", "head -n 5", "sed -n 1p",
		"cat a.go > b.go", "cat a.go >> b.go", "cat < a.go", "cat a.go 2>&1", "cat <<EOF\nx\nEOF", "cat <(ls)",
		"cat $FILE", `cat "$FILE"`, "cat $(ls)", "cat `ls`", `cat "$(ls)"`, "cat \"`ls`\"", "cat ${A}", "cat $'a'",
		"cat a.go & ", "cat a.go &", "cat a.go & cat b.go", "cat a.go |& head",
		"(cat a.go)", "{ cat a.go; }", "! cat a.go", "cat a.go # rest", "cat a\\ b", `cat "a\"b"`, "cat ~/a", "cat {a,b}",
		"cat 'a", `cat "a`, "cat a.go ||", "cat a.go &&", "cat a.go |", "| cat a.go", "&& cat a.go", "; cat a.go",
		"cat a.go || | head", "cat a.go ;; cat b.go", "cat a.go | ; head", "cat a.go\n| head",
		"X=1 cat a.go", "env cat a.go", "/bin/cat a.go", "sudo cat a.go", "'cat' a.go", "c?t a.go", "cat\x00a.go", "cat 'a\x00'",
		"ls", "rm a.go", "cat a.go && rm a.go", "cat a.go | tee b.go", "cat a.go | xargs rm", "grep x a.go", "less a.go",
		"cat a.go | head -5; ls", "cat a.go; head -5",
		"cat --help", "head --lines=5 a.go", "cat -[n] a.go",
		"tail -f a.go", "tail -F a.go", "tail -5f a.go", "tail --follow a.go",
		"sed 1p a.go", "sed -i 1p a.go", "sed -n -i 1p a.go", "sed -ni 1p a.go", "sed -n", "sed -n -e", "sed -n a.go",
		"sed -n 1d a.go", "sed -n '1w b.go' a.go", "sed -n '1p;w b.go' a.go", "sed -n '1e ls' a.go", "sed -n 's/a/b/e' a.go",
		"sed -n '/x/p' a.go", "sed -n p a.go", "sed -n '' a.go", "sed -n ';' a.go", "sed -n '1,2q' a.go", "sed -n '1,2,3p' a.go",
		"sed -n '1,p' a.go", "sed -n 1,5p -i a.go", "sed -n 1p --in-place a.go", "sed -n -f script a.go",
	} {
		if file, _, ok := fold.ReadCommand(command); ok {
			t.Errorf("%q is treated as a read of %q", command, file)
		}
	}
}

// Outside of quotes ReadCommand accepts only words and lists of commands, and every
// accepted command begins with one of five names.
func FuzzReadCommand(f *testing.F) {
	for _, seed := range []string{
		"cat a.go", "nl -ba a.go | sed -n '1,5p'", "cat 'a b' && head -n 5 \"c\"", "tail -5 a\nhead *.go;", "sed -n 1p a > b", "cat $(x)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		file, _, ok := fold.ReadCommand(command)
		if !ok {
			if file != "" {
				t.Fatalf("%q is not treated as a read of %q", command, file)
			}
			return
		}
		bare := unquote(command)
		if strings.ContainsAny(bare, "<>$`\\(){}#!~\x00\r") || strings.Contains(strings.ReplaceAll(bare, "&&", ""), "&") {
			t.Fatalf("%q is treated as a read", command)
		}
		for simple := range strings.FieldsFuncSeq(bare, func(r rune) bool { return strings.ContainsRune(";|&\n", r) }) {
			words := strings.Fields(simple)
			if len(words) > 0 && !strings.Contains(" cat sed head tail nl ", " "+words[0]+" ") {
				t.Fatalf("%q runs %q", command, words[0])
			}
		}
	})
}

// unquote replaces each quoted string by a Q.
func unquote(s string) string {
	var b strings.Builder
	for s != "" {
		if c := s[0]; c == '\'' || c == '"' {
			_, s, _ = strings.Cut(s[1:], string(c))
			b.WriteByte('Q')
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}
