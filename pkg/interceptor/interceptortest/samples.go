package interceptortest

import (
	"errors"
	"iter"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// pod is the pod of the samples.
const pod = "0198f3c0-0000-7000-8000-000000000001"

// withSamples adds events that every interceptor must handle.
func (e Events) withSamples() Events {
	if e.Check == nil {
		e.Check = func(arguments string) (string, error) { return arguments, nil }
	}
	e.Submits = append(e.Submits, interceptor.Submit{Pod: pod}, interceptor.Submit{
		Pod: pod, RequestID: "r1", Text: "see @a.txt and\n\x1b[2J[unresolved file ref: b]",
		Segments: []item.Segment{
			item.TextSegment{Text: "see "}, item.FileRef{Path: "a.txt", StartLine: 1, EndLine: 2}, item.TextSegment{Text: " and\n"},
			item.PasteSegment{Text: "\x1b[2J"}, item.FileRef{Path: "b"}, item.UnknownSegment{},
		},
		Resolved: []item.Item{item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a.txt]\none\ntwo"}},
	})
	e.Requests = append(e.Requests, interceptor.Request{Pod: pod, Turn: 1, Step: 1},
		interceptor.Request{Pod: pod, Turn: 2, Step: 40, Tokens: 900_000, Usage: item.Usage{Requests: 39, Input: 1_000_000, Output: 20_000}})
	for _, call := range [][2]string{
		{"shell", `{"command":"git push --force && rm -rf /"}`}, {"write_file", `{"content":"\u0000","path":"../a"}`},
		{"read_file", `{"path":"a.txt"}`}, {"no_such_tool", `{}`}, {"", `{"deep":[[[{"a":null}]]]}`},
	} {
		c := interceptor.Call{Pod: pod, Turn: 1, CallID: "call_" + call[0], Tool: call[0], Arguments: call[1]}
		e.Calls = append(e.Calls, c)
		e.Results = append(e.Results, interceptor.Result{Call: c, Output: item.Output{Summary: call[0] + ": done", Content: "one\ntwo\n"}})
	}
	e.Results = append(e.Results, interceptor.Result{Output: item.Output{
		Summary: "shell: seq 100000, exit status 1", Content: "1\n\xff", Kind: item.OutputShell, IsError: true,
		Cut: &item.Cut{TotalBytes: 588_895, TotalLines: 100_000, KeptBytes: 3, KeptLines: 2, SpoolPath: "/spool/1"},
	}})
	e.Turns = append(e.Turns, interceptor.Turn{Pod: pod, Turn: 1, Steps: 1}, interceptor.Turn{Pod: pod, Turn: 2, Steps: 7, Answer: "Done.\n"})
	for _, err := range []error{nil, errors.New("the log of the pod is damaged")} {
		e.Submits = append(e.Submits, interceptor.Submit{Pod: pod, RequestID: "r2", Text: "go on", Conversation: conversation(err)})
		e.Requests = append(e.Requests, interceptor.Request{Pod: pod, Turn: 2, Step: 3, Conversation: conversation(err)})
		e.Turns = append(e.Turns, interceptor.Turn{Pod: pod, Turn: 2, Steps: 2, Answer: "Done.", Conversation: conversation(err)})
	}
	e.Aborts = append(e.Aborts, interceptor.Abort{
		Pod: pod, Turn: 1, Outcome: item.OutcomeLimit, Reason: "MAX_STEPS", Cause: "the turn reached its limit of 200 model requests",
	})
	return e
}

// conversation has two turns, with an item of each kind. If err is not nil, reading it
// ends with err.
func conversation(err error) interceptor.Conversation {
	call := item.ToolCall{CallID: "call_1", Name: "edit_file", Arguments: `{"path":"a.txt"`}
	all := []interceptor.Past{
		{Seq: 3, Turn: 1, Item: item.UserMessage{Text: "hello"}},
		{Seq: 5, Turn: 1, Item: item.AssistantMessage{}},
		{Seq: 12, Turn: 2, Item: item.UserMessage{Text: "see @a.txt"}},
		{Seq: 13, Turn: 2, Item: item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a.txt]\none"}},
		{Seq: 15, Turn: 2, Item: item.Reasoning{Opaque: item.Opaque{API: "responses", JSON: "{}"}}},
		{Seq: 16, Turn: 2, Item: call},
		{Seq: 19, Turn: 2, Item: item.ToolResult{CallID: call.CallID, Tool: call.Name, Output: item.Output{
			Summary: "edit_file: a.txt, 1 place replaced", Kind: item.OutputEdit, Path: "a.txt",
		}}},
		{Seq: 20, Turn: 2, Item: item.AssistantMessage{Text: "Done."}},
	}
	return interceptor.NewConversation(func(whole bool) iter.Seq2[interceptor.Past, error] {
		return func(yield func(interceptor.Past, error) bool) {
			for _, p := range all {
				if (whole || p.Turn == 2) && !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(interceptor.Past{}, err)
			}
		}
	})
}
