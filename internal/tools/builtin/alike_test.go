package builtin_test

import (
	"strings"
	"testing"
)

// Tools find a file whose name only looks like the one that a model writes, and change that file: they make
// no second one. A new file has the name that the model writes.
func TestLookAlikeNames(t *testing.T) {
	const shot, typed = "Shot 9.22\u202fPM.txt", "Shot 9.22 PM.txt"
	b := newBench(t, map[string]string{shot: "one\n", "d\u00a0d/f": "func x() {}\n", "two\u202fblanks": "", "two\u00a0blanks": ""})
	for _, c := range []struct{ tool, arguments, want string }{
		{"read_file", object("path", typed), `read_file: "Shot 9.22\u202fPM.txt", 1 line`},
		{"edit_file", object("path", typed, "old", "one", "new", "two"), `edit_file: "Shot 9.22\u202fPM.txt", 1 place replaced`},
		{"apply_patch", object("input", patch("*** Update File: "+typed, "@@", "-two", "+three")), `apply_patch: M "Shot 9.22\u202fPM.txt" +1 -1`},
		{"list_dir", object("path", "d d"), `list_dir: "d\u00a0d", 0 directories, 1 file`},
		{"repo_structure", object("path", "d d"), `"d\u00a0d"`},
		{"search", object("pattern", "func", "path", "d d"), "1 match"},
		{"search", object("pattern", "func", "path", "d d", "glob", "*"), "1 match"},
		{"write_file", object("path", typed, "content", "a new one"), "write_file: created Shot 9.22 PM.txt"},
		{"apply_patch", object("input", patch("*** Add File: d d/g", "+x", "*** Update File: d d/g", "@@", "-x", "+y")), "apply_patch: A d d/g +1, M d d/g +1 -1"},
	} {
		if out := b.call(c.tool, c.arguments); out.IsError || !strings.Contains(out.Summary, c.want) {
			t.Errorf("%s %s gives %+v", c.tool, c.arguments, out)
		}
	}
	if got := b.tree(); got[shot] != "three\n" || got[typed] != "a new one" || got["d d/g"] != "y\n" {
		t.Errorf("the files are %q", got)
	}
	const several = `two blanks does not exist, and several names look the same: write one of "two\u00a0blanks", "two\u202fblanks"`
	for tool, arguments := range map[string]string{
		"read_file": object("path", "two blanks"), "edit_file": object("path", "two blanks", "old", "a", "new", "b"),
		"apply_patch": object("input", patch("*** Delete File: two blanks")),
	} {
		if out := b.call(tool, arguments); !out.IsError || !strings.Contains(out.Summary, several) {
			t.Errorf("%s gives %+v", tool, out)
		}
	}
}
