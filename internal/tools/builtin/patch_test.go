package builtin_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool/tooltest"
)

// tree reads all files of the workspace.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(b.dir, path)
			files[rel] = b.read(rel)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return files
}

func patch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

const source = "import os\n\ndef a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n"

func TestApplyPatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		patch   string
		summary string
		after   map[string]string
	}{
		{"update", map[string]string{"f": "a\nb\nc\n"}, patch("*** Update File: f", "@@", " a", "-b", "+B", " c"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\nB\nc\n"}},
		{"first hunk without @@", map[string]string{"f": "a\nb\n"}, patch("*** Update File: f", " a", "-b", "+B"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\nB\n"}},
		{"add", nil, patch("*** Add File: new/x.txt", "+one", "+", "+two"),
			"apply_patch: A new/x.txt +3", map[string]string{"new/x.txt": "one\n\ntwo\n"}},
		{"add empty", nil, patch("*** Add File: x"), "apply_patch: A x +0", map[string]string{"x": ""}},
		{"delete", map[string]string{"f": "a\n", "g": "b"}, patch("*** Delete File: f"), "apply_patch: D f", map[string]string{"g": "b"}},
		{"move", map[string]string{"f": "a\n"}, patch("*** Update File: f", "*** Move to: d/g", "@@", "-a", "+b"),
			"apply_patch: R f -> d/g +1 -1", map[string]string{"d/g": "b\n"}},
		{"move alone", map[string]string{"f": "a\n"}, patch("*** Update File: f", "*** Move to: g"),
			"apply_patch: R f -> g +0 -0", map[string]string{"g": "a\n"}},
		{"several", map[string]string{"f": "a\n", "g": "b\n"},
			patch("*** Update File: f", "@@", "-a", "+A", "", "*** Delete File: g", "", "*** Add File: h", "+x"),
			"apply_patch: M f +1 -1, D g, A h +1", map[string]string{"f": "A\n", "h": "x\n"}},
		{"header narrows", map[string]string{"f": source}, patch("*** Update File: f", "@@ def b():", "-    x = 1", "+    x = 2"),
			"apply_patch: M f +1 -1", map[string]string{"f": strings.Replace(source, "b():\n    x = 1", "b():\n    x = 2", 1)}},
		{"header by its start", map[string]string{"f": "class A:\n  def m(self, x):\n    pass\n"}, patch("*** Update File: f", "@@ class A", "@@ def m(", "-    pass", "+    return"),
			"apply_patch: M f +1 -1", map[string]string{"f": "class A:\n  def m(self, x):\n    return\n"}},
		{"addition after a header", map[string]string{"f": source}, patch("*** Update File: f", "@@ def b():", "+    y = 3"),
			"apply_patch: M f +1 -0", map[string]string{"f": strings.Replace(source, "b():\n", "b():\n    y = 3\n", 1)}},
		{"addition at the end", map[string]string{"f": "a\n"}, patch("*** Update File: f", "@@", "+b"),
			"apply_patch: M f +1 -0", map[string]string{"f": "a\nb\n"}},
		{"addition to an empty file", map[string]string{"f": ""}, patch("*** Update File: f", "@@", "+b"),
			"apply_patch: M f +1 -0", map[string]string{"f": "b\n"}},
		{"hunks in order", map[string]string{"f": source}, patch("*** Update File: f", "@@", "-import os", "+import sys", "@@ def a():", "-    x = 1", "+    x = 5", "@@", " def b():", "-    x = 1", "+    x = 6"),
			"apply_patch: M f +3 -3", map[string]string{"f": "import sys\n\ndef a():\n    x = 5\n    return x\n\ndef b():\n    x = 6\n    return x\n"}},
		{"end of file", map[string]string{"f": "x\ny\nx\n"}, patch("*** Update File: f", "@@", "-x", "+z", "*** End of File"),
			"apply_patch: M f +1 -1", map[string]string{"f": "x\ny\nz\n"}},
		{"unified line numbers", map[string]string{"f": "a\nb\n"}, patch("*** Update File: f", "@@ -1,2 +1,2 @@", " a", "-b", "+c"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\nc\n"}},
		{"space at line ends", map[string]string{"f": "a  \nb\t\nc\n"}, patch("*** Update File: f", "@@", " a", "-b", "+B", " c"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a  \nB\nc\n"}},
		{"empty kept line", map[string]string{"f": "a\n\nb\n"}, patch("*** Update File: f", "@@", " a", "", "-b", "+c"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\n\nc\n"}},
		{"CRLF", map[string]string{"f": "a\r\nb\r\nc\n"}, patch("*** Update File: f", "@@", " a", "-b", "+B"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\r\nB\r\nc\n"}},
		{"CRLF in the patch", map[string]string{"f": "a\nb\n"}, strings.ReplaceAll(patch("*** Update File: f", "@@", "-b", "+B"), "\n", "\r\n"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\nB\n"}},
		{"no newline at the end", map[string]string{"f": "a\nb"}, patch("*** Update File: f", "@@", " b", "+c"),
			"apply_patch: M f +1 -0", map[string]string{"f": "a\nb\nc"}},
		{"no newline, last line kept", map[string]string{"f": "a\nb\nc"}, patch("*** Update File: f", "@@", " a", "-b", "+B", " c"),
			"apply_patch: M f +1 -1", map[string]string{"f": "a\nB\nc"}},
		{"no newline, last line replaced", map[string]string{"f": "a\nb"}, patch("*** Update File: f", "@@", " a", "-b", "+B", "+C"),
			"apply_patch: M f +2 -1", map[string]string{"f": "a\nB\nC"}},
		{"no newline, last line removed", map[string]string{"f": "a\nb"}, patch("*** Update File: f", "@@", " a", "-b"),
			"apply_patch: M f +0 -1", map[string]string{"f": "a"}},
		{"no newline, a line before the last one", map[string]string{"f": "a\nb"}, patch("*** Update File: f", "@@", " a", "+x", " b", "*** End of File"),
			"apply_patch: M f +1 -0", map[string]string{"f": "a\nx\nb"}},
		{"only line kept", map[string]string{"f": "a"}, patch("*** Update File: f", "@@", "+x", " a"),
			"apply_patch: M f +1 -0", map[string]string{"f": "x\na"}},
		{"all lines removed", map[string]string{"f": "a"}, patch("*** Update File: f", "@@", "-a"),
			"apply_patch: M f +0 -1", map[string]string{"f": ""}},
		{"mixed ends, CRLF first", map[string]string{"f": "first\r\none\ntwo\nthree\n"}, patch("*** Update File: f", "@@", " one", "-two", "+TWO", "+two and a half", " three"),
			"apply_patch: M f +2 -1", map[string]string{"f": "first\r\none\nTWO\ntwo and a half\nthree\n"}},
		{"mixed ends, each its own", map[string]string{"f": "a\r\nb\nc\r\n"}, patch("*** Update File: f", "@@", "-a", "-b", "-c", "+A", "+B", "+C", "+D"),
			"apply_patch: M f +4 -3", map[string]string{"f": "A\r\nB\nC\r\nD\r\n"}},
		{"mixed ends, added between", map[string]string{"f": "a\nb\r\nc\n"}, patch("*** Update File: f", "@@", " a", "+x", " b", "+y", " c"),
			"apply_patch: M f +2 -0", map[string]string{"f": "a\nx\nb\r\ny\r\nc\n"}},
		{"mixed ends, added first", map[string]string{"f": "a\nb\r\n"}, patch("*** Update File: f", "@@", "+x", " a"),
			"apply_patch: M f +1 -0", map[string]string{"f": "x\na\nb\r\n"}},
		{"byte order mark", map[string]string{"f": "\ufeffa\r\nb\r\n"}, patch("*** Update File: f", "@@", "-a", "+A", "+x", " b"),
			"apply_patch: M f +2 -1", map[string]string{"f": "\ufeffA\r\nx\r\nb\r\n"}},
		{"no newline, not touched", map[string]string{"f": "a\nb"}, patch("*** Update File: f", "@@", "-a", "+A"),
			"apply_patch: M f +1 -1", map[string]string{"f": "A\nb"}},
		{"content like a header", map[string]string{"f": "*** Add File: x\n"}, patch("*** Update File: f", "@@", "-*** Add File: x", "+*** End Patch", "+*** Begin Patch"),
			"apply_patch: M f +2 -1", map[string]string{"f": "*** End Patch\n*** Begin Patch\n"}},
		{"here-document", map[string]string{"f": "a\n"}, "<<'EOF'\n" + patch("*** Update File: f", "@@", "-a", "+b") + "EOF",
			"apply_patch: M f +1 -1", map[string]string{"f": "b\n"}},
		{"fence and padding", map[string]string{"f": "a\n"}, "```\n *** Begin Patch \n*** Update File:  f \n@@\n-a\n+b\n*** End Patch \n```",
			"apply_patch: M f +1 -1", map[string]string{"f": "b\n"}},
		{"twice the same file", map[string]string{"f": "a\nb\n"}, patch("*** Update File: f", "@@", "-a", "+A", "*** Update File: f", "@@", "-b", "+B"),
			"apply_patch: M f +1 -1, M f +1 -1", map[string]string{"f": "A\nB\n"}},
		{"delete and add", map[string]string{"f": "a\n"}, patch("*** Delete File: f", "*** Add File: f", "+b"),
			"apply_patch: D f, A f +1", map[string]string{"f": "b\n"}},
		{"swap", map[string]string{"f": "1\n", "g": "2\n"}, patch("*** Update File: f", "*** Move to: t", "*** Update File: g", "*** Move to: f", "*** Update File: t", "*** Move to: g"),
			"apply_patch: R f -> t +0 -0, R g -> f +0 -0, R t -> g +0 -0", map[string]string{"f": "2\n", "g": "1\n"}},
		{"no difference", map[string]string{"f": "a\n"}, patch("*** Update File: f", "@@", "-a", "+a"),
			"apply_patch: the files already have these changes", map[string]string{"f": "a\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.files)
			out := b.call("apply_patch", object("input", c.patch))
			if out.IsError || out.Summary != c.summary || out.Kind != item.OutputEdit {
				t.Errorf("got %+v\nwant %q", out, c.summary)
			}
			if got := b.tree(); !maps.Equal(got, c.after) {
				t.Errorf("files %q, want %q", got, c.after)
			}
		})
	}
}

// A patch that fails anywhere changes nothing and says which file, which hunk and what to
// do.
func TestApplyPatchRefuses(t *testing.T) {
	files := map[string]string{"f": source, "g": "x\ny\nx\n", "d/h": "h\n"}
	good := "*** Update File: g\n@@\n-y\n+Y"
	for _, c := range []struct{ name, patch, want string }{
		{"no begin", "*** Update File: f", `the patch must begin with the line "*** Begin Patch"`},
		{"empty", "", `must begin with`},
		{"no end", "*** Begin Patch\n" + good, `the patch must end with the line "*** End Patch"`},
		{"nothing", patch(""), "the patch changes no file: write *** Update File: PATH and hunks between its first and its last line"},
		{"unknown section", patch(good, "*** Rename File: a"), `must start with a space (kept), - (removed) or + (added)`},
		{"text first", patch("hello"), `line 2 of the patch: "hello" is not one of "*** Add File: PATH"`},
		{"no path", patch("*** Update File: ", "@@", "-a"), "line 2 of the patch: the path is missing: write it after the colon"},
		{"no plus", patch("*** Add File: n", "+a", "b"), "line 4 of the patch: each line of the added file n must start with +"},
		{"no hunk", patch("*** Update File: f"), "the update of f has no hunk: write @@ and the lines to keep, remove and add"},
		{"hunk without change", patch("*** Update File: f", "@@", " import os"), "line 4 of the patch: the update of f removes and adds nothing: start changed lines with - or +"},
		{"absent", patch(good, "*** Update File: f", "@@", "-import sys", "+x"), `nothing was changed: f: hunk 1 does not fit the file: line 1 is "import os", not "import sys"; read the file again`},
		{"nothing like it", patch("*** Update File: f", "@@", "-nothing", "+x"), `f: hunk 1 expects "nothing", which is not in the file: read the file again`},
		{"second hunk", patch(good, "*** Update File: f", "@@", "-import os", "+x", "@@", " def a():", "-    x = 3", "+    x = 4"),
			`f: hunk 2 does not fit the file after line 1: line 4 is "    x = 1", not "    x = 3"; read the file again`},
		{"several indentations", patch(good, "*** Update File: f", "@@", " def a():", "-  x = 1", "-    return x", "+  x = 4"), `line 4 is "    x = 1", not "  x = 1"`},
		{"added line outside of the indentation", patch(good, "*** Update File: f", "@@", "-\tdef a():", "-\t    x = 1", "+x"), `line 3 is "def a():", not "\tdef a():"`},
		{"ambiguous", patch(good, "*** Update File: f", "@@", "-    x = 1", "+x"), "f: hunk 1 fits at lines 4, 8: add lines around it, or put an earlier line after @@"},
		{"header", patch(good, "*** Update File: f", "@@ def c():", "-    x = 1", "+x"), `f: hunk 1 starts after the line "def c():", which is not in the file: write a line of the file after @@, or none`},
		{"wrong order, two places", patch(good, "*** Update File: f", "@@ def b():", " def b():", "@@", "-    return x", "+y", "@@", "-    return x", "+y"), `f: hunk 3 expects "return x", which is not in the file after line 9`},
		{"the same lines twice", patch(good, "*** Update File: f", "@@", "-def b():", "+def c():", "@@", "-def b():", "+def d():"), "f: hunk 2 changes line 7, which another hunk changes: write one hunk for both"},
		{"not at the end, two places", patch(good, "*** Update File: f", "@@", "-    x = 1", "+y", "*** End of File"), "f: hunk 1 does not fit the file"},
		{"add over", patch(good, "*** Add File: f", "+x"), "f: the file exists: use *** Update File, or *** Delete File before it"},
		{"update missing", patch(good, "*** Update File: n", "@@", "-a", "+b"), "n: the file to update does not exist: check the path, or use *** Add File"},
		{"delete missing", patch(good, "*** Delete File: n"), "n: the file to delete does not exist"},
		{"deleted before", patch("*** Delete File: f", "*** Update File: f", "@@", "-import os", "+b"), "f: the file to update does not exist"},
		{"move onto", patch(good, "*** Update File: f", "*** Move to: g"), "f: cannot move it: g already exists: use another path, or delete that file first"},
		{"directory", patch(good, "*** Delete File: d"), "d is a directory"},
		{"scope", patch(good, "*** Add File: ../x", "+a"), "is outside the scope"},
		{"move out of scope", patch(good, "*** Update File: f", "*** Move to: /tmp/podd-x"), "is outside the scope"},
		{"write fails", patch(good, "*** Update File: f", "*** Move to: i", "@@", "-import os", "+x", "*** Delete File: d/h", "*** Add File: g/x", "+x"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, files)
			out := b.call("apply_patch", object("input", c.patch))
			if !out.IsError || !strings.Contains(out.Summary+out.Content, c.want) {
				t.Errorf("got %+v\nwant %q", out, c.want)
			}
			if got := b.tree(); !maps.Equal(got, files) {
				t.Errorf("files changed: %v", slices.Sorted(maps.Keys(got)))
			}
		})
	}
}

// A write that fails in the middle is rolled back.
func TestApplyPatchRollsBack(t *testing.T) {
	files := map[string]string{"a": "1\n", "b": "2\n", "c": "3\n", "locked": "4\n"}
	b := newBench(t, files)
	if err := os.Chmod(b.path("locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	out := b.call("apply_patch", object("input", patch(
		"*** Update File: a", "@@", "-1", "+one", "*** Delete File: b", "*** Update File: c", "*** Move to: d", "*** Add File: e", "+5",
		"*** Update File: locked", "@@", "-4", "+four")))
	if !out.IsError || !strings.Contains(out.Summary, "nothing was changed: locked is write-protected") {
		t.Errorf("got %+v", out)
	}
	if got := b.tree(); !maps.Equal(got, files) {
		t.Errorf("files %q", got)
	}
	// The recorded digests are current: the next patch succeeds.
	if out := b.call("apply_patch", object("input", patch("*** Update File: a", "@@", "-1", "+one", "*** Delete File: b"))); out.IsError {
		t.Errorf("got %+v", out)
	}
}

func TestApplyPatchKeepsTheMode(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "a\n"})
	if err := os.Chmod(b.path("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.call("apply_patch", object("input", patch("*** Update File: run.sh", "*** Move to: bin/run.sh", "@@", "-a", "+b")))
	if info, err := os.Stat(b.path("bin/run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestApplyPatchManyFiles(t *testing.T) {
	b := newBench(t, nil)
	var lines []string
	for i := range 30 {
		lines = append(lines, "*** Add File: some/long/directory/name/file"+strings.Repeat("x", i), "+x")
	}
	out := b.call("apply_patch", object("input", patch(lines...)))
	if out.Summary != "apply_patch: 30 files changed" || strings.Count(out.Content, "\n") != 30 {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	tooltest.Conform(t, b.tool("apply_patch"), `{"input":"x"}`)
}

// For any patch the tool answers, and an error changes nothing.
func FuzzApplyPatch(f *testing.F) {
	f.Add(patch("*** Update File: f", "@@ def a():", "-    x = 1", "+    x = 5", "*** End of File"))
	f.Add(patch("*** Add File: n", "+a", "*** Delete File: f", "*** Update File: g", "*** Move to: h", "@@", " x"))
	f.Add("<<EOF\n*** Begin Patch\n*** End Patch\nEOF")
	f.Add(patch("*** Update File: f", "", "", "@@", "@@ x", "-", "+"))
	f.Fuzz(func(t *testing.T, input string) {
		files := map[string]string{"f": source, "g": "x\r\ny"}
		b := newBench(t, files)
		arguments := object("input", input)
		if _, err := b.tool("apply_patch").Check(arguments); err != nil {
			return
		}
		out := b.call("apply_patch", arguments)
		if out.IsError && !maps.Equal(b.tree(), files) {
			t.Errorf("%q failed and left %q", input, b.tree())
		}
	})
}
