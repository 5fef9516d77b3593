package workspace_test

import (
	"context"
	"errors"
	"testing"

	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// A node without a lease calls no tool of another program for a pod that another node may take
// over, and those of other pods as always.
func TestForeignToolsNeedTheLease(t *testing.T) {
	for _, movable := range []bool{false, true} {
		begun := false
		foreign, err := tool.NewForeign(tool.Foreign{
			ToolSpec: item.ToolSpec{Name: "mcp__a__b", Description: "does it", Schema: `{"type":"object"}`},
			Touches:  func() tool.Access { return tool.Access{} },
			Call: func(context.Context, *tool.Invocation) (tool.Output, error) {
				begun = true
				return tool.Output{}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := workspace.New(workspace.Config{
			SpoolDir: t.TempDir(), ForeignPrefix: "mcp__",
			Movable: func(item.PodSpec) bool { return movable },
			Project: func(string) workspace.Project {
				return workspace.Project{Tools: func(context.Context, bool) []tool.Tool { return []tool.Tool{foreign} }}
			},
		}, workspace.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(all.Close)
		w, err := all.Open(item.Pod{ID: "p", Spec: item.PodSpec{Dir: directories(t)}}, func() ([]item.Pod, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close(errors.New("the test ended")) })
		g, err := w.Look()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Follow(); err != nil {
			t.Fatal(err)
		}
		if err := g.Equip(new(worker.Config)); err != nil {
			t.Fatal(err)
		}
		tools, err := g.Offered(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		found, ok := tools.Lookup("mcp__a__b")
		if !ok {
			t.Fatal("the tool is not offered")
		}
		if _, err := found.Run(t.Context(), &tool.Invocation{Arguments: "{}"}); begun == movable || (err != nil) != movable {
			t.Errorf("movable %v: begun %v, %v", movable, begun, err)
		}
	}
}
