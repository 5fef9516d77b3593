package interceptor_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// asks answers with fixed verdicts and remembers what it was asked.
type asks struct {
	interceptor.Base
	name   string
	submit interceptor.SubmitVerdict
	call   interceptor.CallVerdict
	turn   interceptor.TurnVerdict
	seen   *[]string
	panics bool
}

func (a asks) Name() string { return a.name }

func (a asks) PromptSubmit(_ context.Context, s interceptor.Submit) interceptor.SubmitVerdict {
	*a.seen = append(*a.seen, a.name+":"+s.Text)
	if a.panics {
		panic("boom")
	}
	if len(s.Resolved) > 0 {
		s.Resolved[0] = nil
	}
	return a.submit
}

func (a asks) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	*a.seen = append(*a.seen, a.name+":"+c.Tool)
	return a.call
}

func (a asks) TurnEnd(context.Context, interceptor.Turn) interceptor.TurnVerdict { return a.turn }

func note(text string) item.Item {
	return item.SystemMessage{Origin: item.OriginInterceptor, Text: text}
}

func TestPromptSubmit(t *testing.T) {
	file := item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a]\nx"}
	tests := []struct {
		name      string
		chain     []asks
		text      string
		items     []item.Item
		cancelled string
		seen      []string
		err       string
	}{
		{name: "nobody", text: "hi", items: []item.Item{file}},
		{
			name: "in order, what one rewrites the next one sees",
			chain: []asks{
				{name: "a", submit: interceptor.Rewrite("ho")},
				{name: "b", submit: interceptor.ContinueWith(note("1"), note("2"))},
				{name: "c", submit: interceptor.ContinueWith(note("3"))},
			},
			text: "ho", items: []item.Item{file, note("1"), note("2"), note("3")}, seen: []string{"a:hi", "b:ho", "c:ho"},
		},
		{
			name:      "the first cancel ends the asking",
			chain:     []asks{{name: "a", submit: interceptor.Cancel("not now")}, {name: "b"}},
			text:      "hi",
			cancelled: "a cancelled the submit: not now", seen: []string{"a:hi"},
		},
		{
			name: "a cancel without a reason is a cancel", chain: []asks{{name: "a", submit: interceptor.Cancel("")}},
			text: "hi", cancelled: "a cancelled the submit: no reason given", seen: []string{"a:hi"},
		},
		{
			name: "an empty text is a rewrite", chain: []asks{{name: "a", submit: interceptor.Rewrite("")}},
			items: []item.Item{file}, seen: []string{"a:hi"},
		},
		{name: "a panic names who panicked", chain: []asks{{name: "a", panics: true}}, seen: []string{"a:hi"}, err: "interceptor a panicked: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen []string
			chain := interceptor.Chain{interceptor.FileRefs{}}
			for _, a := range tt.chain {
				a.seen = &seen
				chain = append(chain, a)
			}
			d, err := chain.PromptSubmit(t.Context(), interceptor.Submit{Text: "hi", Resolved: []item.Item{file}})
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || d.Text != tt.text || d.Cancelled != tt.cancelled || !slices.Equal(d.Items, tt.items) {
				t.Errorf("got %+v, %v", d, err)
			}
			if !slices.Equal(seen, tt.seen) {
				t.Errorf("asked %v, want %v", seen, tt.seen)
			}
		})
	}
}

func TestBeforeTool(t *testing.T) {
	var seen []string
	chain := interceptor.Chain{
		asks{name: "a", seen: &seen},
		asks{name: "b", seen: &seen, call: interceptor.Deny("no shell")},
		asks{name: "c", seen: &seen},
	}
	denied, err := chain.BeforeTool(t.Context(), interceptor.Call{Tool: "shell"})
	if err != nil || denied != "denied by b: no shell" {
		t.Errorf("got %q, %v", denied, err)
	}
	if got := strings.Join(seen, " "); got != "a:shell b:shell" {
		t.Errorf("asked %s", got)
	}
	if denied, err := interceptor.Chain(nil).BeforeTool(t.Context(), interceptor.Call{}); denied != "" || err != nil {
		t.Errorf("the nil chain denied: %q, %v", denied, err)
	}
}

func TestTurnEnd(t *testing.T) {
	chain := interceptor.Chain{asks{name: "a"}, asks{name: "b", turn: interceptor.GoOn(note("tests fail"))}, interceptor.FileRefs{}}
	items, err := chain.TurnEnd(t.Context(), interceptor.Turn{})
	if err != nil || !slices.Equal(items, []item.Item{note("tests fail")}) {
		t.Errorf("got %v, %v", items, err)
	}
}
