package builtin_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each case is a class of mistakes in recorded calls of agents: edit_file applies an edit
// that can mean only one thing, and says how old differed.
func TestEditFileForgives(t *testing.T) {
	const method = "class A:\n    def m(self):\n        if x:\n            y()\n\n        return 1\n"
	for _, c := range []struct{ name, text, old, new, but, after string }{
		{"indented too little", method, "def m(self):\n    if x:\n        y()\n", "def m(self):\n    if x:\n        z()\n    w()\n",
			"indentation", strings.Replace(method, "            y()\n", "            z()\n        w()\n", 1)},
		{"indented too much", "a:\n  b\n  c\n", "    a:\n      b\n", "    a:\n      x\n    y\n", "indentation", "a:\n  x\ny\n  c\n"},
		{"spaces for tabs", "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "    if x {\n        y()\n    }", "    if x {\n        if z {\n            y()\n        }\n    }",
			"indentation", "func f() {\n\tif x {\n\t\tif z {\n\t\t\ty()\n\t\t}\n\t}\n}\n"},
		{"tabs for spaces", "f:\n  a\n    b\n", "f:\n\ta\n\t\tb\n", "f:\n\ta\n\t\tc\n", "indentation", "f:\n  a\n    c\n"},
		{"blanks at line ends in old", "a\n\nb\n", "a\n    \nb", "a\n    \nc", "blanks at line ends, quotes or dashes", "a\n\nc\n"},
		{"blanks at line ends in the file", "a  \nb\t\nc\n", "a\nb\nc\n", "a\nb\nx\n", "blanks at line ends, quotes or dashes", "a  \nb\t\nx\n"},
		{"typographic quotes and dashes", "say “hi” – it’s\nb\n", "say \"hi\" - it's\nb\n", "say \"hi\" - it's\nc\n", "blanks at line ends, quotes or dashes", "say “hi” – it’s\nc\n"},
		{"doubled escapes", "if x {\n\tsay(\"a\")\n}\nb\n", `if x {\n\tsay(\"a\")\n}\n`, `if x {\n\tsay(\"a\\n\")\n}\n`, "doubled escapes", "if x {\n\tsay(\"a\\n\")\n}\nb\n"},
		{"newline after the last line", "a\nb", "b\n", "c\n", "", "a\nc"},
		{"deleted lines", "a\n  b\nc\n", "b\nc\n", "c\n", "", "a\n  c\n"},
		{"deleted indented lines", "if:\n    b\n    d\nc\n", "  b\n  d\n", "", "indentation", "if:\nc\n"},
		{"CRLF", "a\r\n  b\r\nc\r\n", "a \n  b\n", "a \n  x\n  y\n", "blanks at line ends, quotes or dashes", "a\r\n  x\r\n  y\r\nc\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			out := b.call("edit_file", object("path", "f", "old", c.old, "new", c.new))
			if got := b.read("f"); got != c.after || out.IsError {
				t.Errorf("got %q, want %q: %+v", got, c.after, out)
			}
			if _, but, _ := strings.Cut(out.Summary, "; old differed from the file in "); but != c.but {
				t.Errorf("summary %q", out.Summary)
			}
		})
	}
}

// An edit that can mean two things, or that matches nothing in the file, changes nothing
// and shows the nearest place.
func TestEditFileForgivesNothingAmbiguous(t *testing.T) {
	for _, c := range []struct{ name, text, old, new, want string }{
		{"two places but for indentation", "a:\n  b\nc:\n    b\n", "\tb\n", "\tx\n", "old occurs 2 times in f, at lines 2, 4"},
		{"two places but for blanks", "b \n\nb\t\n", "b  \n", "x\n", "old occurs 2 times in f, at lines 1, 3"},
		{"no rule for the indentation", "a\n  b\n", " a\n    b\n", "x\n", `line 1 is "a", not " a"`},
		{"new indented less than old", "a\n", "  a\n", "b\n", `line 1 is "a", not "  a"`},
		{"doubled escapes at two places", "a\nb\na\nb\n", `a\nb\n`, `x\n`, "old is not in f"},
		{"newlines beside escapes", "a\nb\nc\n", "a\\nb\nc", "x", "old is not in f"},
		{"another word", "one two three\nfour\n", "one two 3", "x", `the nearest lines are 1-1, but line 1 is "one two three", not "one two 3"`},
		{"a difference after many lines", strings.Repeat("line\n", 30) + "end\n", strings.Repeat("line\n", 30) + "finish\n", "x", `but line 31 is "end", not "finish"`},
		{"longer than the file", "first\n", "first\nsecond\n", "x", `line 2 is the end of the file, not "second"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			out := b.call("edit_file", object("path", "f", "old", c.old, "new", c.new))
			if !out.IsError || !strings.Contains(out.Summary, c.want) || b.read("f") != c.text {
				t.Errorf("got %+v, file %q, want %q", out, b.read("f"), c.want)
			}
		})
	}
}

// The same for hunks of a patch.
func TestApplyPatchForgives(t *testing.T) {
	for _, c := range []struct {
		name, text, after string
		lines             []string
	}{
		{"indented otherwise", "class A:\n    def m(self):\n        x = 1\n", "class A:\n    def m(self):\n        x = 2\n        y = 3\n",
			[]string{"@@", " def m(self):", "-    x = 1", "+    x = 2", "+    y = 3"}},
		{"spaces for tabs", "f() {\n\ta\n}\n", "f() {\n\tb\n}\n", []string{"@@", " f() {", "-    a", "+    b", " }"}},
		{"typographic quotes", "it’s\nb\n", "it’s\nc\n", []string{"@@", " it's", "-b", "+c"}},
		{"a hunk that only finds the next one", source, strings.Replace(source, "b():\n    x = 1", "b():\n    x = 2", 1), []string{"@@", " def b():", "@@", "-    x = 1", "+    x = 2"}},
		{"a hunk without lines", source, strings.Replace(source, "b():\n    x = 1", "b():\n    x = 2", 1), []string{"@@ def b():", "@@", "@@", "-    x = 1", "+    x = 2"}},
		{"hunks in another order", source, "import sys\n\ndef a():\n    x = 1\n    return x\n\ndef c():\n    x = 1\n    return x\n",
			[]string{"@@", "-def b():", "+def c():", "@@", "-import os", "+import sys"}},
		{"a wrong line after @@", source, strings.Replace(source, "import os", "import sys", 1), []string{"@@ class B:", "-import os", "+import sys"}},
		{"not at the end of the file", source, strings.Replace(source, "import os", "import sys", 1), []string{"@@", "-import os", "+import sys", "*** End of File"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			out := b.call("apply_patch", object("input", patch(append([]string{"*** Update File: f"}, c.lines...)...)))
			if got := b.tree(); out.IsError || !maps.Equal(got, map[string]string{"f": c.after}) {
				t.Errorf("got %q, want %q: %+v", got, c.after, out)
			}
		})
	}
}

// An edit of lines that occur once does what the exact edit does, also if its indentation
// or blanks differ from the file's.
func TestAForgivenEditIsTheExactOne(t *testing.T) {
	b := newBench(t, nil)
	n := 0
	edit := func(text, old, changed string) string {
		n++
		name := fmt.Sprint("f", n)
		b.write(name, text)
		b.call("edit_file", object("path", name, "old", old, "new", changed))
		return b.read(name)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "  c", "\td", "    e(", "", "  }", "’f’"})
		lines := rapid.SliceOfN(line, 1, 12).Draw(t, "file")
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		want := lines[from:rapid.IntRange(from+1, len(lines)).Draw(t, "to")]
		indent := rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent")
		blanks := rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "blanks")
		found := 0
		for i := range len(lines) - len(want) + 1 {
			if slices.EqualFunc(lines[i:i+len(want)], want, func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }) {
				found++
			}
		}
		text, old := strings.Join(lines, "\n")+"\n", strings.Join(want, "\n")
		if found != 1 || strings.TrimSpace(old) == "" {
			return
		}
		wrong := indent + strings.ReplaceAll(old, "\n", blanks+"\n"+indent) + blanks
		if strings.Index(text, wrong+"\n") != strings.LastIndex(text, wrong+"\n") {
			return // It is there twice: it may begin at the end of a line.
		}
		exact := strings.Join(slices.Concat(lines[:from], []string{"NEW"}, lines[from+len(want):]), "\n") + "\n"
		if got := edit(text, wrong+"\n", indent+"NEW\n"); got != exact {
			t.Fatalf("%q in %q gives %q, not %q", wrong, text, got, exact)
		}
	})
}
