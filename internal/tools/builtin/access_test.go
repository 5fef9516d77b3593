package builtin_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"podd/pkg/tool"
)

func TestAccess(t *testing.T) {
	b := newBench(t, nil)
	patch := `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b/c\n@@\n-x\n+y\n*** Delete File: d\n*** End Patch"}`
	tests := []struct {
		tool, arguments string
		want            tool.Access
	}{
		{"read_file", `{"path":"./a/../b"}`, tool.Access{Paths: []string{"b"}, Confined: true}},
		{"read_file", `{"path":"/etc/passwd"}`, tool.Access{Paths: []string{"/etc/passwd"}, Confined: true}},
		{"write_file", `{"path":"` + filepath.ToSlash(b.path("a")) + `","content":""}`, tool.Access{Paths: []string{"a"}, Writes: true, Confined: true}},
		{"edit_file", `{"path":"a","old":"x","new":"y"}`, tool.Access{Paths: []string{"a"}, Writes: true, Confined: true}},
		{"apply_patch", patch, tool.Access{Paths: []string{"a", "b/c", "d"}, Writes: true, Confined: true}},
		{"list_dir", `{}`, tool.Access{Paths: []string{"."}, Confined: true}},
		{"search", `{"pattern":"x","path":"sub"}`, tool.Access{Paths: []string{"sub"}, Confined: true}},
		{"search", `{"pattern":"x","path":"a","glob":"b/*.go"}`, tool.Access{Paths: []string{"a", "a/b"}, Confined: true}},
		{"search", `{"pattern":"x","glob":"*.go"}`, tool.Access{Paths: []string{"."}, Confined: true}},
		{"glob", `{"pattern":"a/b/**/c"}`, tool.Access{Paths: []string{"a/b"}, Confined: true}},
		{"todo", `{"items":[]}`, tool.Access{Confined: true}},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			got := b.tool(tt.tool).Access(tt.arguments)
			for i, target := range got.Targets {
				if target.Named() != got.Paths[i] || len(target.Leads()) > 0 {
					t.Errorf("%s leads to %q", target.Named(), target.Leads())
				}
			}
			got.Targets = nil
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// If a path of a call leads elsewhere than when it was decided on, the call does nothing
// and must be decided on again, whatever the tool.
func TestCallsStayWhereTheyWereDecided(t *testing.T) {
	patch := func(text string) string { return object("input", "*** Begin Patch\n"+text+"\n*** End Patch") }
	for name, arguments := range map[string]string{
		"read_file":      object("path", "m/f"),
		"write_file":     object("path", "m/new", "content", "x"),
		"edit_file":      object("path", "m/f", "old", "one", "new", "two"),
		"apply_patch":    patch("*** Update File: m/f\n@@\n-one\n+two"),
		"list_dir":       object("path", "m"),
		"repo_structure": object("path", "m"),
		"repo_map":       object("path", "m"),
		"glob":           object("pattern", "m/*"),
		"search":         object("pattern", "one", "glob", "m/*"),
	} {
		b := newBench(t, map[string]string{"a/f": "one\n", "b/f": "one\n"})
		link := func(to string) {
			_ = os.Remove(b.path("m"))
			if err := os.Symlink(to, b.path("m")); err != nil {
				t.Fatal(err)
			}
		}
		run := func(targets []tool.Target) error {
			tl := b.tool(name)
			canonical, err := tl.Check(arguments)
			if err != nil {
				t.Fatal(err)
			}
			out, err := tl.Run(t.Context(), &tool.Invocation{Targets: targets, Arguments: canonical})
			if out.IsError {
				t.Errorf("%s: %s", name, out.Summary)
			}
			return err
		}
		link("a")
		decided := b.tool(name).Access(arguments).Targets
		link("b")
		if err := run(decided); !errors.Is(err, tool.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(b.path("b/new")); err == nil || b.read("b/f") != "one\n" || b.read("a/f") != "one\n" {
			t.Errorf("%s changed something", name)
		}
		link("a")
		if err := run(decided); err != nil {
			t.Errorf("%s of what leads where it led: %v", name, err)
		}
	}
}
