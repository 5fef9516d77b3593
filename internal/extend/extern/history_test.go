package extern_test

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"podd/internal/extend/extern"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

func gives(h extern.History) func(*extern.Command, *extern.OnFailure) {
	return func(c *extern.Command, _ *extern.OnFailure) { c.History = h }
}

// spoken is a conversation with these items, the first half in turn 2, the rest in turn
// 3, which ends with err.
func spoken(err error, items ...item.Item) interceptor.Conversation {
	return interceptor.NewConversation(func(whole bool) iter.Seq2[interceptor.Past, error] {
		return func(yield func(interceptor.Past, error) bool) {
			for n, it := range items {
				p := interceptor.Past{Seq: item.Seq(n + 1), Turn: 2, Item: it}
				if n >= len(items)/2 {
					p.Turn = 3
				}
				if (whole || p.Turn == 3) && !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(interceptor.Past{}, err)
			}
		}
	})
}

// A command that asks for history gets it with the three events that have one, each item
// with all fields of its kind.
func TestHistory(t *testing.T) {
	b := newBench(t)
	call := item.ToolCall{CallID: "c1", Name: "shell", Arguments: `{"command":"ls <a>"}`}
	said := spoken(nil,
		item.UserMessage{Text: "hi <b>"}, item.AssistantMessage{Text: "Hello."}, item.UserMessage{Text: "list"},
		item.SystemMessage{Origin: item.OriginNote, Text: "mind"}, item.Reasoning{Text: "so"}, call,
		item.ToolCall{CallID: "c2", Name: "x", Arguments: "{"},
		item.ToolResult{CallID: "c1", Tool: "shell", Output: item.Output{Summary: "shell: ls", Content: "a\n", Kind: item.OutputRead, Path: "a", IsError: true}},
	)
	const turn = `{"seq":5,"turn":3,"type":"reasoning","text":"so"},
		{"seq":6,"turn":3,"type":"tool_call","call_id":"c1","tool":"shell","arguments":{"command":"ls <a>"}},
		{"seq":7,"turn":3,"type":"tool_call","call_id":"c2","tool":"x","arguments":"{"},
		{"seq":8,"turn":3,"type":"tool_result","call_id":"c1","tool":"shell","kind":"read","path":"a",
		 "output":{"summary":"shell: ls","content":"a\n","is_error":true}}`
	const all = `{"seq":1,"turn":2,"type":"user","text":"hi <b>"},{"seq":2,"turn":2,"type":"assistant","text":"Hello."},
		{"seq":3,"turn":2,"type":"user","text":"list"},{"seq":4,"turn":2,"type":"system","origin":"note","text":"mind"},` + turn
	for h, list := range map[extern.History]string{extern.HistoryTurn: turn, extern.HistoryAll: all} {
		chain := b.script(t, "cat >event", gives(h))
		history := `,"history":[` + list + `],"history_left_out":0}`
		end := aTurn
		end.Conversation = said
		if d, err := chain.TurnEnd(t.Context(), end); err != nil || len(d.Warnings) > 0 {
			t.Fatal(d.Warnings, err)
		}
		b.wantEvent(t, begin("turn_end")+`,"turn":3,"end":{"steps":2,"answer":"Done."}`+history)
		request := aRequest
		request.Conversation = said
		if d, err := chain.BeforeRequest(t.Context(), request); err != nil || len(d.Warnings) > 0 {
			t.Fatal(d.Warnings, err)
		}
		b.wantEvent(t, begin("before_request")+`,"turn":3,"request":{"step":2,"tokens":100,
			"usage":{"requests":0,"input":0,"cached_input":0,"output":0}}`+history)
		submit := aSubmit
		submit.Conversation = said
		if d, err := chain.PromptSubmit(t.Context(), submit); err != nil || len(d.Warnings) > 0 {
			t.Fatal(d.Warnings, err)
		}
		b.wantEvent(t, begin("prompt_submit")+`,"submit":{"request_id":"r1","text":"hi"}`+history)
	}
	if _, err := b.script(t, "cat >event", gives(extern.HistoryAll)).TurnEnd(t.Context(), aTurn); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, begin("turn_end")+`,"turn":3,"end":{"steps":2,"answer":"Done."},"history":[],"history_left_out":0}`)
	for _, h := range []extern.History{"", extern.HistoryNone} {
		end := aTurn
		end.Conversation = spoken(errors.New("it is read"), call)
		if _, err := b.script(t, "cat >event", gives(h)).TurnEnd(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		b.wantEvent(t, begin("turn_end")+`,"turn":3,"end":{"steps":2,"answer":"Done."}}`)
	}
}

// Above 8 MiB the oldest items are left out and counted, even a single larger one.
func TestLongHistory(t *testing.T) {
	b := newBench(t)
	chain := b.script(t, "cat >event", gives(extern.HistoryAll))
	megabyte := item.AssistantMessage{Text: strings.Repeat("x", 1<<20)}
	for _, tt := range []struct {
		items         []item.Item
		first, wanted int
	}{
		{[]item.Item{megabyte, megabyte, megabyte, megabyte, megabyte, megabyte, megabyte, megabyte, megabyte, item.UserMessage{Text: "last"}}, 3, 8},
		{[]item.Item{megabyte, item.UserMessage{Text: strings.Repeat("y", 9<<20)}}, 0, 0},
	} {
		end := aTurn
		end.Conversation = spoken(nil, tt.items...)
		if d, err := chain.TurnEnd(t.Context(), end); err != nil || len(d.Warnings) > 0 {
			t.Fatal(d.Warnings, err)
		}
		var got struct {
			History []struct{ Seq int }
			LeftOut int `json:"history_left_out"`
		}
		text := b.file(t, "event")
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.History) != tt.wanted || got.LeftOut != len(tt.items)-tt.wanted || tt.wanted > 0 && got.History[0].Seq != tt.first {
			t.Errorf("%d items, %d left out", len(got.History), got.LeftOut)
		}
		if len(text) > 8<<20+1000 {
			t.Errorf("the event has %d bytes", len(text))
		}
	}
}

// A history that can't be read is a failure: the command does not run.
func TestUnreadableHistory(t *testing.T) {
	b := newBench(t)
	end := aTurn
	end.Conversation = spoken(errors.New("the log is damaged"), item.UserMessage{Text: "hi"})
	d, err := b.script(t, "touch ran", gives(extern.HistoryAll), onFailure(extern.Deny)).TurnEnd(t.Context(), end)
	if err != nil || len(d.Warnings) != 1 {
		t.Fatal(d, err)
	}
	wantIn(t, d.Warnings[0], `x: could not read the history: the log is damaged; the pod was paused (on_failure = "deny")`)
	wantIn(t, d.Paused, "could not read the history")
}

func TestHistoryRefusals(t *testing.T) {
	b := newBench(t)
	for want, c := range map[string]extern.Command{
		`x: history is "some": it must be "none", "turn" or "all"`: {History: "some", On: []string{"turn_end"}},
		`x: history is "all", but none of its events has a history: add prompt_submit, before_request or turn_end to on, or remove history`: {
			History: extern.HistoryAll, On: []string{"before_tool", "aborted"},
		},
	} {
		c.Name, c.Argv = "x", []string{"true"}
		if _, err := b.Interceptor(c, ""); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
