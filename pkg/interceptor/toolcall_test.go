package interceptor_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// judge decides on calls by a function and on results by another.
type judge struct {
	interceptor.Base
	name   string
	call   func(interceptor.Call) interceptor.CallVerdict
	result func(interceptor.Result) interceptor.ResultVerdict
}

func (j judge) Name() string { return j.name }

func (j judge) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	if j.call == nil {
		return c.Continue()
	}
	return j.call(c)
}

func (j judge) AfterTool(_ context.Context, r interceptor.Result) interceptor.ResultVerdict {
	if j.result == nil {
		return r.Continue()
	}
	return j.result(r)
}

// trim is a check whose canonical form has no spaces around it; it refuses "bad".
func trim(arguments string) (string, error) {
	if arguments == "bad" {
		return "", errors.New("not good")
	}
	return strings.TrimSpace(arguments), nil
}

func says(v interceptor.CallVerdict) func(interceptor.Call) interceptor.CallVerdict {
	return func(interceptor.Call) interceptor.CallVerdict { return v }
}

// once rewrites one text to another.
func once(from, to string) func(interceptor.Call) interceptor.CallVerdict {
	return func(c interceptor.Call) interceptor.CallVerdict {
		if c.Arguments == from {
			return c.Rewrite(to)
		}
		return c.Continue()
	}
}

func TestBeforeTool(t *testing.T) {
	var call interceptor.Call
	out := item.Output{Summary: "made up"}
	tests := []struct {
		name  string
		chain []judge
		want  interceptor.CallDecision
		err   string
	}{
		{name: "no interceptor", want: interceptor.CallDecision{Arguments: "a"}},
		{
			name:  "the first deny ends the asking",
			chain: []judge{{name: "x"}, {name: "y", call: says(call.Deny("no"))}, {name: "z", call: says(call.Abort("never"))}},
			want:  interceptor.CallDecision{Arguments: "a", Denied: "denied by y: no"},
		},
		{
			name:  "questions add up, and a deny beats them",
			chain: []judge{{name: "x", call: says(call.Ask("sure?"))}, {name: "y", call: says(call.Ask(""))}},
			want:  interceptor.CallDecision{Arguments: "a", Ask: []string{"x asks: sure?", "y asks: no reason given"}},
		},
		{
			name:  "a result replaces the call",
			chain: []judge{{name: "x", call: says(call.Result(out))}, {name: "y", call: says(call.Deny("late"))}},
			want:  interceptor.CallDecision{Arguments: "a", Result: &out},
		},
		{
			name:  "abort",
			chain: []judge{{name: "x", call: says(call.Abort("enough"))}},
			want:  interceptor.CallDecision{Arguments: "a", Aborted: "x ended the turn: enough"},
		},
		{
			name:  "what is rewritten is canonical, and the first is asked about it too",
			chain: []judge{{name: "x", call: once("b", "c")}, {name: "y", call: once("a", " b ")}},
			want:  interceptor.CallDecision{Arguments: "c"},
		},
		{
			name: "a rewrite does not lead round the one before it",
			chain: []judge{
				{name: "guard", call: func(c interceptor.Call) interceptor.CallVerdict {
					if c.Arguments == "secret" {
						return c.Deny("secret")
					}
					return c.Continue()
				}},
				{name: "y", call: once("a", "secret")},
			},
			want: interceptor.CallDecision{Arguments: "secret", Denied: "denied by guard: secret"},
		},
		{
			name:  "an invalid rewrite denies",
			chain: []judge{{name: "x", call: says(call.Rewrite("bad"))}},
			want:  interceptor.CallDecision{Arguments: "a", Denied: "denied: x rewrote the arguments to invalid ones: not good"},
		},
		{
			name:  "rewrites that never settle deny",
			chain: []judge{{name: "x", call: func(c interceptor.Call) interceptor.CallVerdict { return c.Rewrite(c.Arguments + "a") }}},
			want:  interceptor.CallDecision{Arguments: "aaaaaaaaa", Denied: "denied: interceptors kept rewriting the arguments and did not agree"},
		},
		{
			name:  "a panic is an error",
			chain: []judge{{name: "x", call: func(interceptor.Call) interceptor.CallVerdict { panic("boom") }}},
			err:   "interceptor x panicked: boom",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := chainOf(tt.chain).BeforeTool(t.Context(), interceptor.Call{Tool: "t", Arguments: "a"}, trim)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(d, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", d, err, tt.want)
			}
		})
	}
}

func chainOf(judges []judge) interceptor.Chain {
	var chain interceptor.Chain
	for _, j := range judges {
		chain = append(chain, j)
	}
	return chain
}

// However a chain rewrites, every interceptor has agreed to the final form of what runs.
func TestNobodyIsLedRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		agreed := map[string]map[string]bool{}
		var judges []judge
		for n := range rapid.IntRange(1, 4).Draw(t, "interceptors") {
			name := string(rune('p' + n))
			agreed[name] = map[string]bool{}
			rewrites := rapid.MapOf(words, words).Draw(t, "rewrites")
			denies := rapid.MapOf(words, rapid.Just(true)).Draw(t, "denies")
			judges = append(judges, judge{name: name, call: func(c interceptor.Call) interceptor.CallVerdict {
				if denies[c.Arguments] {
					return c.Deny("no")
				}
				if to, ok := rewrites[c.Arguments]; ok && to != c.Arguments {
					return c.Rewrite(to)
				}
				agreed[name][c.Arguments] = true
				return c.Continue()
			}})
		}
		d, err := chainOf(judges).BeforeTool(context.Background(), interceptor.Call{Arguments: words.Draw(t, "arguments")}, trim)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judges {
			if d.Denied == "" && !agreed[j.name][d.Arguments] {
				t.Fatalf("%q runs and %s has not agreed", d.Arguments, j.name)
			}
		}
	})
}

func TestAfterTool(t *testing.T) {
	add := func(s string) func(interceptor.Result) interceptor.ResultVerdict {
		return func(r interceptor.Result) interceptor.ResultVerdict {
			r.Output.Cut.KeptBytes = 99
			r.Output.Summary += s
			return r.Replace(r.Output)
		}
	}
	stops := func(r interceptor.Result) interceptor.ResultVerdict { return r.Abort("seen " + r.Output.Summary) }
	chain := chainOf([]judge{{name: "outer", result: add("o")}, {name: "stops", result: stops}, {name: "inner", result: add("i")}})
	cut := item.Cut{KeptBytes: 1}
	d, err := chain.AfterTool(t.Context(), interceptor.Result{Output: item.Output{Summary: "s", Cut: &cut}})
	if err != nil || d.Output.Summary != "sio" || d.Aborted != "stops ended the turn: seen si" {
		t.Errorf("got %+v, %v", d, err)
	}
	if cut.KeptBytes != 1 {
		t.Error("an interceptor changed what it got in place")
	}
}
