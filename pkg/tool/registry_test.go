package tool_test

import (
	"context"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// stub is a tool that New did not make, like those of other programs.
type stub struct{ spec item.ToolSpec }

func (s stub) Spec() item.ToolSpec                    { return s.spec }
func (s stub) Check(arguments string) (string, error) { return arguments, nil }
func (s stub) Run(_ context.Context, call *tool.Invocation) (tool.Output, error) {
	return tool.FromString(call.Arguments), nil
}
func (s stub) Access(string) tool.Access { return tool.Access{} }
func (s stub) Recover(context.Context, *tool.Invocation) (tool.Output, item.Recovery, error) {
	return tool.Output{}, item.RecoveryUnknown, nil
}

func named(name string) tool.Tool {
	return stub{item.ToolSpec{Name: name, Description: "d", Schema: `{"type":"object"}`}}
}

func TestRegistryKeepsTheGivenOrder(t *testing.T) {
	r, err := tool.NewRegistry(named("zeta"), named("alpha"), named("mid_1-X"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, spec := range r.Specs() {
		names = append(names, spec.Name)
	}
	if got := strings.Join(names, " "); got != "zeta alpha mid_1-X" {
		t.Errorf("order %q", got)
	}
	r.Specs()[0].Name = "changed"
	if r.Specs()[0].Name != "zeta" {
		t.Error("Specs shares its slice")
	}
	if tl, ok := r.Lookup("alpha"); !ok || tl.Spec().Name != "alpha" {
		t.Error("alpha is not found")
	}
	if _, ok := r.Lookup("Alpha"); ok {
		t.Error("Lookup folds case")
	}
}

func TestRegistryRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		tools      []tool.Tool
	}{
		{"twice", "two tools are called a", []tool.Tool{named("a"), named("a")}},
		{"nil", "tool 2 of the list is nil", []tool.Tool{named("a"), nil}},
		{"empty name", `"" is not a valid tool name`, []tool.Tool{named("")}},
		{"dot", `"a.b" is not a valid tool name`, []tool.Tool{named("a.b")}},
		{"newline", "is not a valid tool name", []tool.Tool{named("a\n")}},
		{"long", "is not a valid tool name", []tool.Tool{named(strings.Repeat("a", 65))}},
		{"description", "no description", []tool.Tool{stub{item.ToolSpec{Name: "a", Schema: "{}"}}}},
		{"schema", "not a JSON object", []tool.Tool{stub{item.ToolSpec{Name: "a", Description: "d", Schema: "null"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tool.NewRegistry(c.tools...)
			if err == nil || !strings.Contains(err.Error(), c.want) || item.ReasonOf(err) != "BAD_TOOL" {
				t.Errorf("NewRegistry: %v; want %q", err, c.want)
			}
		})
	}
}
