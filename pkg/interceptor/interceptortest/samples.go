package interceptortest

import (
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// pod is that of the samples.
const pod = "0198f3c0-0000-7000-8000-000000000001"

// withSamples adds events that no interceptor may stumble over.
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
	e.Aborts = append(e.Aborts, interceptor.Abort{
		Pod: pod, Turn: 1, Outcome: item.OutcomeLimit, Reason: "MAX_STEPS", Cause: "the turn reached its limit of 200 model requests",
	})
	return e
}
