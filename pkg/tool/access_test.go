package tool_test

import (
	"context"
	"reflect"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

type where struct {
	Path string `json:"path"`
}

func ran(context.Context, *tool.Invocation, where) (tool.Output, error) {
	return tool.FromString("ran"), nil
}

func TestAccess(t *testing.T) {
	touches := tool.Touches(func(a where) tool.Access { return tool.Access{Paths: []string{a.Path}, Confined: true} })
	tests := []struct {
		name      string
		tool      tool.Tool
		arguments string
		want      tool.Access
	}{
		{"nothing is known", tool.New("t", "d", ran), `{"path":"a"}`, tool.Access{}},
		{"the tool tells", tool.New("t", "d", ran, touches), `{"path":"a"}`, tool.Access{Paths: []string{"a"}, Confined: true}},
		{"arguments that are refused may do anything", tool.New("t", "d", ran, touches), `{"path":1}`, tool.Access{}},
		{"confined", tool.New("t", "d", ran, tool.Confined[where]()), `{"path":"a"}`, tool.Access{Confined: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.tool.Access(tt.arguments); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestRecover(t *testing.T) {
	call := &tool.Invocation{Pod: "p", Turn: 1, CallID: "c", Arguments: `{"path":"a"}`}
	if _, how, err := tool.New("t", "d", ran).Recover(t.Context(), call); how != item.RecoveryUnknown || err != nil {
		t.Errorf("a tool that knows nothing found something: %v", err)
	}
	finds := tool.New("t", "d", ran, tool.Recovers(func(_ context.Context, call *tool.Invocation, a where) (tool.Output, item.Recovery, error) {
		return tool.FromString(a.Path + call.CallID), item.RecoveryFound, nil
	}))
	if out, how, err := finds.Recover(t.Context(), call); err != nil || how != item.RecoveryFound || out.Summary != "ac" {
		t.Errorf("got %+v, %v, %v", out, how, err)
	}
	if again, ok := tool.New("t", "d", ran, tool.Repeats[where]()).(tool.Repeater); !ok || !again.Repeats() {
		t.Error("a tool that repeats does not say so")
	}
	if _, _, err := finds.Recover(t.Context(), &tool.Invocation{Arguments: `{}`}); err == nil {
		t.Error("arguments that are refused were recovered")
	}
}
