package builtin_test

import (
	"fmt"
	"strings"
	"testing"

	"podd/pkg/item"
)

// What a call changes in files is kept for people.
func TestChangesHaveDiffs(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\ntwo\n", "b": "x\n", "gone": "z\n", "bin": "\x00"})
	for _, c := range []struct{ name, tool, args, want string }{
		{"edit", "edit_file", object("path", "a", "old", "two", "new", "2"), "a: @@ -1,2 +1,2 @@| one|-two|+2|"},
		{"create", "write_file", object("path", "d/new", "content", "1\n2\n"), "d/new: @@ -0,0 +1,2 @@|+1|+2|"},
		{"replace", "write_file", object("path", "d/new", "content", "1\n3\n"), "d/new: @@ -1,2 +1,2 @@| 1|-2|+3|"},
		{"same", "write_file", object("path", "d/new", "content", "1\n3\n"), ""},
		{"binary", "write_file", object("path", "other", "content", "\x00"), ""},
		{"refused", "write_file", object("path", "b", "content", "y"), ""},
		{
			"patch", "apply_patch", object("input", "*** Begin Patch\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y\n*** Add File: e\n+1\n*** Delete File: gone\n*** End Patch"),
			"c: @@ -1 +1 @@|-x|+y|;e: @@ -0,0 +1 @@|+1|;gone: @@ -1 +0,0 @@|-z|",
		},
	} {
		out := b.call(c.tool, c.args)
		var got []string
		for _, d := range out.Diffs.List() {
			got = append(got, d.Path+": "+strings.ReplaceAll(d.Diff, "\n", "|"))
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%s: %s: %q, want %q", c.name, out.Summary, got, c.want)
		}
	}
	var big strings.Builder
	for i := range 20_000 {
		fmt.Fprintln(&big, i)
	}
	list := b.call("write_file", object("path", "big", "content", big.String())).Diffs.List()
	if len(list) != 1 || len(list[0].Diff) > item.MaxDiffBytes+40 || !strings.HasSuffix(list[0].Diff, " more lines\n") {
		t.Errorf("of a large file: %d diffs, the end is %q", len(list), list[0].Diff[max(0, len(list[0].Diff)-60):])
	}
}
