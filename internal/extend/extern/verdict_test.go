package extern_test

import (
	"reflect"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/item"
)

var (
	aSubmit  = interceptor.Submit{Pod: "p1", RequestID: "r1", Text: "hi"}
	aRequest = interceptor.Request{Pod: "p1", Turn: 3, Step: 2, Tokens: 100}
	aCall    = interceptor.Call{Pod: "p1", Turn: 3, CallID: "c1", Key: "k1", Tool: "shell", Arguments: `{"command":"ls"}`}
	aResult  = interceptor.Result{Call: aCall, Output: item.Output{Summary: "shell: ls", Content: "a\nb", Kind: item.OutputShell}}
	aTurn    = interceptor.Turn{Pod: "p1", Turn: 3, Steps: 2, Answer: "Done."}
)

// added are the items made of an interceptor's texts.
func added(texts ...string) []item.Item {
	var items []item.Item
	for _, text := range texts {
		items = append(items, item.SystemMessage{Origin: item.OriginInterceptor, Text: text})
	}
	return items
}

func TestSubmitVerdicts(t *testing.T) {
	for script, want := range map[string]interceptor.SubmitDecision{
		"":                             {Text: "hi"},
		"cat >/dev/null; echo":         {Text: "hi"},
		says(`{"verdict":"continue"}`): {Text: "hi"},
		says(`{"version": 1, "verdict": "continue_with", "items": ["a", "b\n"]}`): {Text: "hi", Items: added("a", "b\n")},
		says(`{"verdict":"rewrite","text":""}`):                                   {Text: ""},
		says(`{"verdict":"cancel","reason":" later\n"}`):                          {Text: "hi", Cancelled: "x cancelled the submit: later"},
		says(`{"verdict":"cancel"}`):                                              {Text: "hi", Cancelled: "x cancelled the submit: no reason given"},
		"echo >&2 not now; echo ignored; exit 2":                                  {Text: "hi", Cancelled: "x cancelled the submit: not now"},
		"exit 2":                                                                  {Text: "hi", Cancelled: "x cancelled the submit: x gave no reason"},
	} {
		d, err := newBench(t).script(t, script).PromptSubmit(t.Context(), aSubmit)
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", script, d, err, want)
		}
	}
}

func TestRequestVerdicts(t *testing.T) {
	for script, want := range map[string]interceptor.RequestDecision{
		"":                             {},
		says(`{"verdict":"continue"}`): {},
		says(`{"verdict":"continue_with","items":["a"]}`):   {Items: added("a")},
		says(`{"verdict":"cancel","reason":"no"}`):          {Cancelled: "x cancelled the turn: no"},
		says(`{"verdict":"pause","reason":"look at this"}`): {Paused: "x paused the pod: look at this"},
		"echo >&2 no; exit 2":                               {Cancelled: "x cancelled the turn: no"},
	} {
		d, err := newBench(t).script(t, script).BeforeRequest(t.Context(), aRequest)
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", script, d, err, want)
		}
	}
}

func TestCallVerdicts(t *testing.T) {
	long := item.Output{Summary: "one", Content: "two", Kind: item.OutputOther, IsError: true}
	plain := item.Output{Summary: "just this", Kind: item.OutputOther}
	for script, want := range map[string]interceptor.CallDecision{
		"":                             {Arguments: aCall.Arguments},
		says(`{"verdict":"continue"}`): {Arguments: aCall.Arguments},
		// The interceptor also decides on what it rewrote.
		`grep -q '"ls"' && ` + says(`{"verdict":"rewrite","arguments":{"command":"pwd"}}`) + "\n:": {Arguments: `{"command":"pwd"}`},
		says(`{"verdict":"deny","reason":"no"}`):                                                   {Arguments: aCall.Arguments, Denied: "denied by x: no"},
		says(`{"verdict":"result","output":{"summary":"one","content":"two","is_error":true}}`):    {Arguments: aCall.Arguments, Result: &long},
		says(`{"verdict":"result","output":{"content":"just this"}}`):                              {Arguments: aCall.Arguments, Result: &plain},
		says(`{"verdict":"ask","reason":"sure?"}`):                                                 {Arguments: aCall.Arguments, Ask: []string{"x asks: sure?"}},
		says(`{"verdict":"abort","reason":"enough"}`):                                              {Arguments: aCall.Arguments, Aborted: "x ended the turn: enough"},
		"echo >&2 hands off; exit 2":                                                               {Arguments: aCall.Arguments, Denied: "denied by x: hands off"},
	} {
		d, err := newBench(t).script(t, script).BeforeTool(t.Context(), aCall, same)
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", script, d, err, want)
		}
	}
}

func TestResultVerdicts(t *testing.T) {
	output := func(change func(*item.Output)) interceptor.ResultDecision {
		out := aResult.Output
		change(&out)
		return interceptor.ResultDecision{Output: out}
	}
	aborted := output(func(*item.Output) {})
	aborted.Aborted = "x ended the turn: enough"
	for script, want := range map[string]interceptor.ResultDecision{
		"":                             output(func(*item.Output) {}),
		says(`{"verdict":"continue"}`): output(func(*item.Output) {}),
		says(`{"verdict":"replace","output":{"content":"***"}}`): output(func(o *item.Output) { o.Content = "***" }),
		says(`{"verdict":"replace","output":{"summary":"hidden","content":"","is_error":true}}`): output(func(o *item.Output) {
			o.Summary, o.Content, o.IsError = "hidden", "", true
		}),
		says(`{"verdict":"abort","reason":"enough"}`): aborted,
		"echo >&2 see line 3; exit 2":                 output(func(o *item.Output) { o.Content = "a\nb\n[x]\nsee line 3" }),
	} {
		d, err := newBench(t).script(t, script).AfterTool(t.Context(), aResult)
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", script, d, err, want)
		}
	}
}

func TestTurnVerdicts(t *testing.T) {
	for script, want := range map[string]interceptor.TurnDecision{
		"":                           {},
		says(`{"verdict":"finish"}`): {},
		says(`{"verdict":"continue_with","items":["tests fail"]}`): {Items: added("tests fail")},
		says(`{"verdict":"pause"}`):                                {Paused: "x paused the pod: no reason given"},
		"echo >&2 tests fail; exit 2":                              {Items: added("tests fail")},
		"exit 2":                                                   {Items: added("x gave no reason")},
	} {
		d, err := newBench(t).script(t, script).TurnEnd(t.Context(), aTurn)
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", script, d, err, want)
		}
	}
}

// A replaced content is not cut any more, and does not refer to the file with the text
// that was cut from the old one.
func TestReplacedContentIsNotCut(t *testing.T) {
	r := aResult
	r.Output.Cut = &item.Cut{TotalBytes: 100, SpoolPath: "/spool/secret"}
	d, err := newBench(t).script(t, says(`{"verdict":"replace","output":{"content":"***"}}`)).AfterTool(t.Context(), r)
	if err != nil || d.Output.Cut != nil {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = newBench(t).script(t, says(`{"verdict":"replace","output":{"summary":"short"}}`)).AfterTool(t.Context(), r)
	if err != nil || d.Output.Cut == nil || d.Output.Content != "a\nb" {
		t.Errorf("%+v, %v", d, err)
	}
}
