package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

type step struct {
	Text   string `json:"text" jsonschema:"what to do"`
	Status string `json:"status,omitempty" enum:"open,done"`
}

type sample struct {
	Command string            `json:"command" jsonschema:"what to run"`
	Count   int               `json:"count,omitempty"`
	Small   *int8             `json:"small,omitempty"`
	Ratio   float64           `json:"ratio,omitempty"`
	Force   bool              `json:"force,omitempty"`
	Modes   []string          `json:"modes,omitempty" enum:"a,b"`
	Steps   []step            `json:"steps,omitempty"`
	Pair    [2]int            `json:"pair,omitzero"`
	Labels  map[string]string `json:"labels,omitempty"`
	Inner   step              `json:"inner,omitzero"`
	Any     any               `json:"any,omitempty"`
	At      time.Time         `json:"at,omitzero"`
	hidden  int
}

func echo(_ context.Context, _ *tool.Invocation, s sample) (tool.Output, error) {
	s.hidden++
	return tool.FromString("ran " + s.Command), nil
}

func newSample() tool.Tool { return tool.New("sample", "A sample.", echo) }

func TestConformance(t *testing.T) {
	tooltest.Conform(t, newSample(),
		`{"command":"ls"}`,
		`{"command":"ls","count":3,"steps":[{"text":"a","status":"done"}],"labels":{"x":"y"}}`)
	tooltest.Conform(t, tool.New("none", "No arguments.", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
		return tool.FromString("ok"), nil
	}), "{}")
}

func TestSchemaIsCompactAndInFieldOrder(t *testing.T) {
	type args struct {
		Path  string   `json:"path" jsonschema:"relative to the workspace"`
		Limit int      `json:"limit,omitempty"`
		Mode  *string  `json:"mode,omitempty" enum:"fast,slow"`
		Tags  []string `json:"tags,omitempty"`
	}
	got := tool.New("t", "d", func(context.Context, *tool.Invocation, args) (tool.Output, error) { return tool.Output{}, nil }).Spec()
	want := item.ToolSpec{Name: "t", Description: "d", Schema: `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"relative to the workspace"},"limit":{"type":"integer"},` +
		`"mode":{"type":"string","enum":["fast","slow"]},"tags":{"type":"array","items":{"type":"string"}}},` +
		`"required":["path"],"additionalProperties":false}`}
	if got != want {
		t.Errorf("spec\n got %+v\nwant %+v", got, want)
	}
	none := tool.New("t", "d", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) { return tool.Output{}, nil }).Spec()
	if want := `{"type":"object","properties":{},"additionalProperties":false}`; none.Schema != want {
		t.Errorf("schema without fields: %s", none.Schema)
	}
}

func TestCheckCanonical(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"spaces and order", "{ \"count\" : 2,\n\"command\":\"ls\" }", `{"command":"ls","count":2}`},
		{"escapes", `{"command":"\u006cs <a> & \u00e9"}`, `{"command":"ls <a> & é"}`},
		{"null for an optional field", `{"command":"ls","count":null,"inner":null,"steps":null}`, `{"command":"ls"}`},
		{"nested", `{"command":"x","steps":[{"status":"open","text":"t"}]}`, `{"command":"x","steps":[{"text":"t","status":"open"}]}`},
		{"big number in any", `{"command":"x","any":{"n":12345678901234567890}}`, `{"command":"x","any":{"n":12345678901234567890}}`},
		{"map keys sorted", `{"command":"x","labels":{"b":"1","a":"2"}}`, `{"command":"x","labels":{"a":"2","b":"1"}}`},
		{"empty required string", `{"command":""}`, `{"command":""}`},
		{"time", `{"command":"x","at":"2024-01-02T03:04:05Z"}`, `{"command":"x","at":"2024-01-02T03:04:05Z"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := newSample().Check(c.in)
			if err != nil || got != c.want {
				t.Errorf("Check(%s) = %s, %v; want %s", c.in, got, err, c.want)
			}
		})
	}
}

func TestEmptyArgumentsAreAnEmptyObject(t *testing.T) {
	none := tool.New("none", "d", func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) {
		return tool.FromString("ran"), nil
	})
	for _, in := range []string{"", " \n", "{}"} {
		if got, err := none.Check(in); err != nil || got != "{}" {
			t.Errorf("Check(%q) = %q, %v", in, got, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"missing", `{"count":1}`, "missing command"},
		{"empty", ``, "missing command"},
		{"null for required", `{"command":null}`, "command must be a string, not null"},
		{"unknown", `{"command":"x","cmd":"y"}`, "unknown field cmd: the fields are command, count"},
		{"case variant", `{"command":"ls","Command":"rm"}`, "unknown field Command: write it exactly as command"},
		{"case variant alone", `{"COMMAND":"rm"}`, "write it exactly as command"},
		{"duplicate", `{"command":"ls","command":"rm"}`, "the field command is given twice"},
		{"duplicate by escape", `{"command":"ls","\u0063ommand":"rm"}`, "command is given twice"},
		{"duplicate below", `{"command":"x","steps":[{"text":"a","text":"b"}]}`, "steps[0].text is given twice"},
		{"duplicate in any", `{"command":"x","any":{"k":[{"a":1,"a":2}]}}`, "any.k[0].a is given twice"},
		{"case variant below", `{"command":"x","steps":[{"Text":"a"}]}`, "unknown field steps[0].Text: write it exactly as text"},
		{"wrong type", `{"command":"x","count":"3"}`, `count must be an integer, not the string "3"`},
		{"fraction", `{"command":"x","count":1.5}`, "count must be an integer, not 1.5"},
		{"range", `{"command":"x","small":300}`, "small is out of range: 300"},
		{"huge integer", `{"command":"x","count":99999999999999999999}`, "count does not fit"},
		{"huge number", `{"command":"x","ratio":1e999}`, "ratio does not fit"},
		{"enum", `{"command":"x","inner":{"text":"t","status":"maybe"}}`, `inner.status must be one of open, done, not "maybe"`},
		{"enum of a list", `{"command":"x","modes":["a","c"]}`, `modes[1] must be one of a, b, not "c"`},
		{"null in a list", `{"command":"x","modes":[null]}`, "modes[0] must be a string, not null"},
		{"array length", `{"command":"x","pair":[1]}`, "pair must have 2 elements, not 1"},
		{"map value", `{"command":"x","labels":{"a b":1}}`, `labels."a b" must be a string, not the number 1`},
		{"object for string", `{"command":{}}`, "command must be a string, not an object"},
		{"array at top", `[]`, "the arguments must be an object, not an array"},
		{"encoded twice", `"{}"`, "the arguments must be an object, not the string"},
		{"truncated", `{"command":"x`, "not valid JSON: unexpected end of JSON input"},
		{"trailing", `{"command":"x"}{}`, "not valid JSON: invalid character '{' after top-level value"},
		{"not UTF-8", "{\"command\":\"\xff\"}", "not valid UTF-8"},
		{"deep", `{"command":"x","any":` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`, "nested deeper than 64 levels"},
		{"large", `{"command":"` + strings.Repeat("x", 5<<20) + `"}`, "at most 4194304 are accepted"},
		{"hostile key", `{"command":"x","` + strings.Repeat(`\u001b`, 300) + `":1}`, `unknown field "\x1b`},
		{"bad time", `{"command":"x","at":"noon"}`, "noon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := newSample().Check(c.in)
			if err == nil {
				t.Fatalf("Check passed as %.100s", got)
			}
			if !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1_000 {
				t.Errorf("Check: %v; want %q in it", err, c.want)
			}
			if item.ReasonOf(err) != "BAD_ARGUMENTS" {
				t.Errorf("reason %q", item.ReasonOf(err))
			}
			if _, err := newSample().Run(t.Context(), &tool.Invocation{Arguments: c.in}); err == nil {
				t.Error("Run accepts what Check refuses")
			}
		})
	}
}

func TestValidateSeesAndShapesTheArguments(t *testing.T) {
	type args struct {
		Seconds int `json:"seconds,omitempty"`
	}
	var ran args
	tl := tool.New("wait", "d",
		func(_ context.Context, _ *tool.Invocation, a args) (tool.Output, error) {
			ran = a
			return tool.FromString("ok"), nil
		},
		tool.Validate(func(a *args) error {
			if a.Seconds == 0 {
				a.Seconds = 30
			}
			if a.Seconds > 60 {
				return item.Errorf(item.KindInvalid, "X", "seconds must be at most 60")
			}
			return nil
		}))
	canonical, err := tl.Check("{}")
	if err != nil || canonical != `{"seconds":30}` {
		t.Fatalf("Check = %s, %v", canonical, err)
	}
	if _, err := tl.Check(`{"seconds":61}`); err == nil || !strings.Contains(err.Error(), "at most 60") {
		t.Errorf("Check = %v", err)
	}
	if _, err := tl.Run(t.Context(), &tool.Invocation{Arguments: canonical}); err != nil || ran.Seconds != 30 {
		t.Errorf("Run got %+v, %v", ran, err)
	}
}

func TestNewPanicsOnMistakesOfTheProgram(t *testing.T) {
	ok := func(context.Context, *tool.Invocation, struct{}) (tool.Output, error) { return tool.Output{}, nil }
	for name, construct := range map[string]func(){
		"name":        func() { tool.New("no spaces", "d", ok) },
		"description": func() { tool.New("t", "", ok) },
		"no function": func() { tool.New[struct{}]("t", "d", nil) },
		"not a struct": func() {
			tool.New("t", "d", func(context.Context, *tool.Invocation, string) (tool.Output, error) { return tool.Output{}, nil })
		},
		"untagged": func() { construct[struct{ Name string }]() },
		"function": func() { construct[struct{ F func() }]() },
		"bytes": func() {
			construct[struct {
				B []byte `json:"b"`
			}]()
		},
		"embedded": func() { construct[struct{ step }]() },
		"raw": func() {
			construct[struct {
				R json.RawMessage `json:"r"`
			}]()
		},
		"int keys": func() {
			construct[struct {
				M map[int]string `json:"m"`
			}]()
		},
		"interface": func() {
			construct[struct {
				E error `json:"e"`
			}]()
		},
		"enum type": func() {
			construct[struct {
				N int `json:"n" enum:"1,2"`
			}]()
		},
		"quoted": func() {
			construct[struct {
				N int `json:"n,string"`
			}]()
		},
		"omitempty": func() {
			construct[struct {
				S step `json:"s,omitempty"`
			}]()
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			construct()
		})
	}
}

func construct[A any]() {
	tool.New("t", "d", func(context.Context, *tool.Invocation, A) (tool.Output, error) { return tool.Output{}, nil })
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{``, `{"command":"ls"}`, `{"command":"a","command":"b"}`, `{"steps":[{"text":1}]}`, `[[[`, `{"any":{"a":1e5}}`} {
		f.Add(seed)
	}
	tl := newSample()
	f.Fuzz(func(t *testing.T, arguments string) {
		canonical, err := tl.Check(arguments)
		if err != nil {
			return
		}
		again, err := tl.Check(canonical)
		if err != nil || again != canonical {
			t.Errorf("Check(%q) = %q, and of that %q, %v", arguments, canonical, again, err)
		}
	})
}
