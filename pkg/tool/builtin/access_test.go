package builtin_test

import (
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
		{"todo", `{"items":[]}`, tool.Access{Confined: true}},
		{"shell", `{"command":"make"}`, tool.Access{Command: "make"}},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			if got := b.tool(tt.tool).Access(tt.arguments); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
