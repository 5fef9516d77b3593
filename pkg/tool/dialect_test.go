package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// foreignWith is a tool with a schema, and what its last call got.
func foreignWith(schema string) (tool.Tool, *string, error) {
	got := new(string)
	t, err := tool.NewForeign(tool.Foreign{
		ToolSpec: item.ToolSpec{Name: "mcp__s__t", Description: "d", Schema: schema}, Touches: func() tool.Access { return tool.Access{} },
		Call: func(_ context.Context, c *tool.Invocation) (tool.Output, error) {
			*got = c.Arguments
			return tool.FromString("ok"), nil
		},
	})
	return t, got, err
}

// What other programs write is what all model APIs accept.
func TestForeignSchemas(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"plain": {
			`{"type":"object","properties":{"a":{"type":"string","description":"d","enum":["x"]},"b":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["a"],"additionalProperties":false}`,
			`{"additionalProperties":false,"properties":{"a":{"description":"d","enum":["x"],"type":"string"},"b":{"items":{"minimum":1,"type":"integer"},"type":"array"}},"required":["a"],"type":"object"}`,
		},
		"nothing": {`{}`, `{"properties":{},"type":"object"}`},
		"anyOf at the top": {
			`{"type":"object","properties":{"c":{"type":"string"}},"anyOf":[{"required":["a"],"properties":{"a":{"type":"string"}}},{"required":["b","c"],"properties":{"b":{"type":"integer"},"a":{"type":"integer"}}}]}`,
			`{"description":"Needs one of: a; b.","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]},"b":{"type":"integer"},"c":{"type":"string"}},"type":"object"}`,
		},
		"oneOf by references at the top": {
			`{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},"B":{"anyOf":[{"properties":{"b":{"type":"string"}}},{"properties":{"c":{"type":"string"}}}]}}}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"type":"object"}`,
		},
		"allOf at the top": {
			`{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}],"not":{},"if":{},"then":{},"enum":[{}]}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"],"type":"object"}`,
		},
		"reference at the top": {
			`{"$ref":"#/definitions/In~1put","definitions":{"In/put":{"type":"object","properties":{"a":{"type":"string"}}}},"$schema":"s"}`,
			`{"properties":{"a":{"type":"string"}},"type":"object"}`,
		},
		"reference with a description, to itself": {
			`{"properties":{"n":{"$ref":"#/$defs/N","description":"here"}},"$defs":{"N":{"type":"object","description":"node","properties":{"next":{"$ref":"#/$defs/N"}}}}}`,
			`{"properties":{"n":{"description":"here","properties":{"next":{}},"type":"object"}},"type":"object"}`,
		},
		"lists of types, const, booleans": {
			`{"properties":{"a":{"type":["string","null"]},"b":{"type":["integer"]},"c":{"const":5},"d":true,"e":false,"f":{"type":"any"},"g":{"type":"int"},"h":{"type":"array"}},"required":["a","e","missing",3,"a"]}`,
			`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"integer"},"c":{"enum":[5]},"d":{},"f":{},"g":{"type":"integer"},"h":{"items":{},"type":"array"}},"required":["a"],"type":"object"}`,
		},
		"tuples and branches of one": {
			`{"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"number"}]},"b":{"prefixItems":[{"type":"string"}],"type":"array"},"c":{"oneOf":[{"type":"string"}],"description":"d"}}}`,
			`{"properties":{"a":{"items":{"anyOf":[{"type":"string"},{"type":"number"}]},"type":"array"},"b":{"items":{"type":"string"},"type":"array"},"c":{"description":"d","type":"string"}},"type":"object"}`,
		},
		"names": {
			`{"properties":{"$.xgafv":{"type":"string"},"StartTime<":{"type":"string"},"StartTime_":{"type":"object","properties":{"größe":{"type":"string"}}},"rule_name[]":{"type":"array","items":{"type":"string"}}},"required":["StartTime<"]}`,
			`{"properties":{"StartTime_":{"properties":{"gr__e":{"type":"string"}},"type":"object"},"StartTime__2":{"type":"string"},"_.xgafv":{"type":"string"},"rule_name__":{"items":{"type":"string"},"type":"array"}},"required":["StartTime__2"],"type":"object"}`,
		},
		"values of the wrong kind": {
			`{"type":5,"properties":{"a":{"description":7,"enum":[],"minimum":"x","required":true,"properties":[]}},"required":"a"}`,
			`{"properties":{"a":{}},"type":"object"}`,
		},
	} {
		made, _, err := foreignWith(tt.schema)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := made.Spec().Schema; got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

// A call has the names that the other program knows, at any depth.
func TestForeignNames(t *testing.T) {
	made, got, err := foreignWith(`{"properties":{"a b":{"type":"object","properties":{"c[]":{"type":"array","items":{"type":"object","properties":{"d/e":{"type":"number"}}}}}},"plain":{}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"a_b":{"c__":[{"d_e":1.50}]},"plain":{"x":"<a_b>"}}`: `{"a b":{"c[]":[{"d/e":1.50}]},"plain":{"x":"<a_b>"}}`,
		`{"a b":{}}`: `{"a b":{}}`,
		``:           `{}`,
	} {
		if _, err := made.Run(t.Context(), &tool.Invocation{Arguments: in}); err != nil || *got != want {
			t.Errorf("%s became %s, %v", in, *got, err)
		}
	}
}

// References that double the schema at each step are refused, not expanded.
func TestForeignSchemaThatGrows(t *testing.T) {
	var defs []string
	for i := range 20 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%[2]d"}}}`, i, i+1))
	}
	_, _, err := foreignWith(`{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `}}`)
	if err == nil || !strings.Contains(err.Error(), "more than 4000 parts") {
		t.Errorf("%v", err)
	}
}

func FuzzForeignSchema(f *testing.F) {
	f.Add(`{"anyOf":[{"properties":{"a b":{"type":["string","null"]}},"required":["a b"]},{"$ref":"#"}],"type":"object"}`)
	f.Add(`{"allOf":[{"anyOf":[{"type":"object"},{"oneOf":[true,{"enum":[1]}]}]}],"properties":{"":{"items":[{},false]}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		made, _, err := foreignWith(schema)
		if err != nil {
			return
		}
		var top map[string]any
		if err := json.Unmarshal([]byte(made.Spec().Schema), &top); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
			if top[word] != nil {
				t.Errorf("%s has %s at the top: %s", schema, word, made.Spec().Schema)
			}
		}
		if top["type"] != "object" || top["properties"] == nil {
			t.Errorf("%s became %s", schema, made.Spec().Schema)
		}
		accepted(t, top)
		again, _, err := foreignWith(made.Spec().Schema)
		if err != nil || again.Spec().Schema != made.Spec().Schema {
			t.Errorf("%s\nbecomes %s, %v", made.Spec().Schema, again.Spec().Schema, err)
		}
	})
}

var property = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// accepted fails the test at what some API refuses.
func accepted(t *testing.T, s map[string]any) {
	known := []string{"type", "properties", "required", "items", "anyOf", "enum", "additionalProperties", "default", "description", "title", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
	for word, v := range s {
		if !slices.Contains(known, word) {
			t.Errorf("the keyword %q", word)
		}
		switch word {
		case "type":
			if _, ok := v.(string); !ok {
				t.Errorf("the type %v", v)
			}
		case "properties":
			for name, part := range v.(map[string]any) {
				if !property.MatchString(name) {
					t.Errorf("the property %q", name)
				}
				accepted(t, part.(map[string]any))
			}
		case "required":
			for _, name := range v.([]any) {
				if s["properties"].(map[string]any)[name.(string)] == nil {
					t.Errorf("%q is required and not defined", name)
				}
			}
		case "items":
			accepted(t, v.(map[string]any))
		case "anyOf":
			for _, part := range v.([]any) {
				accepted(t, part.(map[string]any))
			}
		}
	}
}
