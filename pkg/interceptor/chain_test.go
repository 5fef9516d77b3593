package interceptor_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// asks answers with fixed verdicts and records its calls.
type asks struct {
	interceptor.Base
	name   string
	submit interceptor.SubmitVerdict
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

func (a asks) TurnEnd(context.Context, interceptor.Turn) interceptor.TurnVerdict { return a.turn }

// submit makes verdicts.
var submit interceptor.Submit

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
		{name: "no interceptor", text: "hi", items: []item.Item{file}},
		{
			name: "in order, what one rewrites the next one sees",
			chain: []asks{
				{name: "a", submit: submit.Rewrite("ho")},
				{name: "b", submit: submit.ContinueWith(note("1"), note("2"))},
				{name: "c", submit: submit.ContinueWith(note("3"))},
			},
			text: "ho", items: []item.Item{file, note("1"), note("2"), note("3")}, seen: []string{"a:hi", "b:ho", "c:ho"},
		},
		{
			name:      "the first cancel ends the asking",
			chain:     []asks{{name: "a", submit: submit.Cancel("not now")}, {name: "b"}},
			text:      "hi",
			cancelled: "a cancelled the submit: not now", seen: []string{"a:hi"},
		},
		{
			name: "a cancel without a reason is a cancel", chain: []asks{{name: "a", submit: submit.Cancel("")}},
			text: "hi", cancelled: "a cancelled the submit: no reason given", seen: []string{"a:hi"},
		},
		{
			name: "an empty text is a rewrite", chain: []asks{{name: "a", submit: submit.Rewrite("")}},
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

func TestTurnEnd(t *testing.T) {
	chain := interceptor.Chain{asks{name: "a"}, asks{name: "b", turn: interceptor.Turn{}.ContinueWith(note("tests fail"))}, interceptor.FileRefs{}}
	d, err := chain.TurnEnd(t.Context(), interceptor.Turn{})
	if err != nil || !slices.Equal(d.Items, []item.Item{note("tests fail")}) || d.Paused != "" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// decides answers a request and a turn's end with fixed verdicts and counts its calls.
type decides struct {
	interceptor.Base
	name    string
	request interceptor.RequestVerdict
	turn    interceptor.TurnVerdict
	asked   *int
}

func (d decides) Name() string { return d.name }

func (d decides) BeforeRequest(context.Context, interceptor.Request) interceptor.RequestVerdict {
	*d.asked++
	return d.request
}

func (d decides) TurnEnd(context.Context, interceptor.Turn) interceptor.TurnVerdict {
	*d.asked++
	return d.turn
}

func TestBeforeRequest(t *testing.T) {
	var request interceptor.Request
	tests := []struct {
		name  string
		first interceptor.RequestVerdict
		want  interceptor.RequestDecision
		asked int
	}{
		{"all continue", request.Continue(), interceptor.RequestDecision{Items: []item.Item{note("b")}}, 2},
		{"items add up", request.ContinueWith(note("a")), interceptor.RequestDecision{Items: []item.Item{note("a"), note("b")}}, 2},
		{"a cancel ends the asking", request.Cancel("no"), interceptor.RequestDecision{Cancelled: "a cancelled the turn: no"}, 1},
		{"a pause ends the asking", request.Pause(""), interceptor.RequestDecision{Paused: "a paused the pod: no reason given"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			chain := interceptor.Chain{
				decides{name: "a", asked: &asked, request: tt.first},
				decides{name: "b", asked: &asked, request: request.ContinueWith(note("b"))},
			}
			d, err := chain.BeforeRequest(t.Context(), request)
			if err != nil || !reflect.DeepEqual(d, tt.want) || asked != tt.asked {
				t.Errorf("got %+v, %v after asking %d", d, err, asked)
			}
		})
	}
}

func TestTurnEndPause(t *testing.T) {
	asked := 0
	var turn interceptor.Turn
	chain := interceptor.Chain{
		decides{name: "a", asked: &asked, turn: turn.Pause("look")},
		decides{name: "b", asked: &asked, turn: turn.ContinueWith(note("x"))},
		decides{name: "c", asked: &asked, turn: turn.Finish()},
	}
	d, err := chain.TurnEnd(t.Context(), turn)
	if err != nil || d.Paused != "a paused the pod: look" || len(d.Items) != 1 || asked != 3 {
		t.Errorf("got %+v, %v after asking %d", d, err, asked)
	}
}

func TestImmediate(t *testing.T) {
	if !(interceptor.Chain{interceptor.FileRefs{}}).Immediate() || (interceptor.Chain{interceptor.FileRefs{}, asks{}}).Immediate() {
		t.Error("a chain takes no time when, and only when, all of it is podd's own")
	}
}
