package tool_test

import (
	"context"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

func foreign(t *testing.T, spec item.ToolSpec) (tool.Tool, error) {
	t.Helper()
	return tool.NewForeign(tool.Foreign{
		ToolSpec: spec,
		Touches:  func() tool.Access { return tool.Access{Note: "it says so"} },
		Call: func(_ context.Context, call *tool.Invocation) (tool.Output, error) {
			return tool.FromString(call.Arguments), nil
		},
	})
}

// The arguments of a foreign tool are any object, written strictly, in one form.
func TestForeign(t *testing.T) {
	made, err := foreign(t, item.ToolSpec{Name: "mcp__a__b", Description: "d", Schema: `{"type":"object"}`})
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		"": "{}", ` {"b": 1.50, "a": {"<": [null, "x"]}} `: `{"a":{"<":[null,"x"]},"b":1.50}`, `{"n": 123456789012345678901234567890}`: `{"n":123456789012345678901234567890}`,
	} {
		canonical, err := made.Check(arguments)
		if err != nil || canonical != want {
			t.Errorf("%s: %s, want %s: %v", arguments, canonical, want, err)
		}
		if again, err := made.Check(canonical); err != nil || again != canonical {
			t.Errorf("%s is not taken as it is: %s, %v", canonical, again, err)
		}
		if out, err := made.Run(t.Context(), &tool.Invocation{Arguments: arguments}); err != nil || out.Summary != want {
			t.Errorf("%s runs with %q: %v", arguments, out.Summary, err)
		}
	}
	for arguments, want := range map[string]string{
		`[1]`: "must be an object, not an array", `null`: "not null", `{"a":1,"a":2}`: "given twice", `{`: "not valid JSON", "{\"a\":\"\xff\"}": "UTF-8",
	} {
		if _, err := made.Check(arguments); err == nil || !strings.Contains(err.Error(), want) || item.ReasonOf(err) != "BAD_ARGUMENTS" {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
		if _, err := made.Run(t.Context(), &tool.Invocation{Arguments: arguments}); err == nil {
			t.Errorf("%s runs", arguments)
		}
	}
	if a := made.Access("{}"); a.Confined || a.Note != "it says so" {
		t.Errorf("%+v", a)
	}
}

func TestForeignThatCannotBe(t *testing.T) {
	for _, spec := range []item.ToolSpec{
		{Name: "a b", Description: "d", Schema: "{}"}, {Name: "a", Schema: "{}"}, {Name: "a", Description: "d", Schema: "true"}, {Name: "a", Description: "d", Schema: "null"},
	} {
		if _, err := foreign(t, spec); item.ReasonOf(err) != "BAD_TOOL" {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if _, err := tool.NewForeign(tool.Foreign{ToolSpec: item.ToolSpec{Name: "a", Description: "d", Schema: "{}"}}); err == nil {
		t.Error("a tool without functions is made")
	}
}
