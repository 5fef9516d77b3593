package extern_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"podd/internal/extend/extern"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

func textOf(t *testing.T, it item.Item) string {
	t.Helper()
	m, ok := it.(item.SystemMessage)
	if !ok || m.Origin != item.OriginInterceptor {
		t.Fatalf("%T of another origin", it)
	}
	return m.Text
}

// wantEvent compares the event that a command read with the JSON object want, in which
// DIR means the workspace.
func (b *bench) wantEvent(t *testing.T, want string) {
	t.Helper()
	text := b.file(t, "event")
	if strings.Count(text, "\n") != 1 {
		t.Errorf("an event is one line: %q", text)
	}
	var got, wanted any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(want, "DIR", b.dir)), &wanted); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("the event is\n%s\nwant\n%s", text, want)
	}
}

// begin is the part that every event here begins with.
func begin(event string) string {
	return fmt.Sprintf(`{"version":1,"event":%q,"name":"x","pod":{"id":"p1","name":"demo","dir":"DIR"}`, event)
}

func TestEvents(t *testing.T) {
	b := newBench(t)
	chain := b.script(t, "cat >event")
	ctx := t.Context()
	submit := interceptor.Submit{
		Pod: "p1", RequestID: "r1", Text: "see @a <b>",
		Segments: []item.Segment{
			item.TextSegment{Text: "see "}, item.FileRef{Path: "a", StartLine: 1, EndLine: 2}, item.PasteSegment{Text: " <b>"}, item.UnknownSegment{},
		},
		Resolved: []item.Item{item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a]\nx\xff"}},
	}
	if _, err := chain.PromptSubmit(ctx, submit); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, begin("prompt_submit")+`,"submit":{"request_id":"r1","text":"see @a <b>","segments":[
		{"type":"text","text":"see "},{"type":"file_ref","path":"a","start_line":1,"end_line":2},
		{"type":"paste","text":" <b>"},{"type":"unknown"}],"resolved":[{"origin":"file_ref","text":"[File: a]\nx\ufffd"}]}}`)

	request := aRequest
	request.Usage = item.Usage{Requests: 1, Input: 10, CachedInput: 5, Output: 2}
	if _, err := chain.BeforeRequest(ctx, request); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, begin("before_request")+`,"turn":3,"request":{"step":2,"tokens":100,
		"usage":{"requests":1,"input":10,"cached_input":5,"output":2}}}`)

	if _, err := chain.BeforeTool(ctx, aCall, same); err != nil {
		t.Fatal(err)
	}
	const call = `"call":{"id":"c1","key":"k1","tool":"shell","arguments":{"command":"ls"}}`
	b.wantEvent(t, begin("before_tool")+`,"turn":3,`+call+`}`)

	if _, err := chain.AfterTool(ctx, aResult); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, begin("after_tool")+`,"turn":3,`+call+`,"output":{"summary":"shell: ls","content":"a\nb","is_error":false}}`)

	if _, err := chain.TurnEnd(ctx, aTurn); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, begin("turn_end")+`,"turn":3,"end":{"steps":2,"answer":"Done."}}`)

	abort := interceptor.Abort{Pod: "p1", Turn: 3, Outcome: item.OutcomeLimit, Reason: "MAX_STEPS", Cause: "too many"}
	if err := chain.Aborted(ctx, abort); err != nil {
		t.Fatal(err)
	}
	b.wantEvent(t, begin("aborted")+`,"turn":3,"abort":{"outcome":"limit","reason":"MAX_STEPS","cause":"too many"}}`)
}

// A command runs only for its own events.
func TestOn(t *testing.T) {
	b := newBench(t)
	chain := b.script(t, "exit 2", func(c *extern.Command, _ *extern.OnFailure) { c.On = []string{"turn_end"} })
	s, err := chain.PromptSubmit(t.Context(), aSubmit)
	if err != nil || s.Cancelled != "" {
		t.Errorf("%+v, %v", s, err)
	}
	e, err := chain.TurnEnd(t.Context(), aTurn)
	if err != nil || len(e.Items) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
}

// A command gets only the listed variables. podd's key is not among them, even if its
// name is listed.
func TestEnvironment(t *testing.T) {
	b := newBench(t)
	chain := b.script(t, "env | sort >env; pwd >pwd", func(c *extern.Command, _ *extern.OnFailure) {
		c.Env = []string{"GIVEN", "MISSING", "SET=a=b"}
	})
	if _, err := chain.TurnEnd(t.Context(), aTurn); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.SplitSeq(strings.TrimSpace(b.file(t, "env")), "\n") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "GIVEN HOME LC_ALL PATH PODD_COMMAND PODD_EVENT PODD_POD PWD SET" &&
		got != "GIVEN HOME LC_ALL OLDPWD PATH PODD_COMMAND PODD_EVENT PODD_POD PWD SET" {
		t.Errorf("the environment has %s", got)
	}
	wantIn(t, b.file(t, "env"), "GIVEN=y\n", "SET=a=b\n", "PODD_EVENT=turn_end\n", "PODD_POD=demo\n", "PATH="+os.Getenv("PATH")+"\n")
	if got := b.file(t, "pwd"); got != b.dir+"\n" {
		t.Errorf("it ran in %s", got)
	}
	if _, err := chain.BeforeTool(t.Context(), aCall, same); err != nil {
		t.Fatal(err)
	}
	wantIn(t, b.file(t, "env"), "PODD_CALL=k1\n")
}

func TestRefuses(t *testing.T) {
	b := newBench(t)
	good := extern.Command{Name: "x", On: []string{"turn_end"}, Argv: []string{"sh"}}
	for want, change := range map[string]func(*extern.Command){
		`the name "" is not`:                 func(c *extern.Command) { c.Name = "" },
		`the name "a b" is not`:              func(c *extern.Command) { c.Name = "a b" },
		"x has no events: set on to some of": func(c *extern.Command) { c.On = nil },
		`x: unknown event "turn": on may contain prompt_submit, before_request,`: func(c *extern.Command) { c.On = []string{"turn"} },
		"x has no command":                    func(c *extern.Command) { c.Argv = nil },
		"the program ./check is relative":     func(c *extern.Command) { c.Argv = []string{"./check"} },
		"NUL":                                 func(c *extern.Command) { c.Argv = []string{"sh", "a\x00"} },
		"the timeout is negative":             func(c *extern.Command) { c.Timeout = -1 },
		`"A B" in env must be NAME or`:        func(c *extern.Command) { c.Env = []string{"A B=c"} },
		"no command gets podd's key":          func(c *extern.Command) { c.Env = []string{"OPENAI_API_KEY"} },
		"x: env contains OPENAI_API_KEY, but": func(c *extern.Command) { c.Env = []string{"OPENAI_API_KEY=x"} },
	} {
		c := good
		change(&c)
		_, err := b.Interceptor(c, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := b.Hook(c); err == nil {
			t.Errorf("a hook of it is made: %s", want)
		}
	}
	if _, err := b.Interceptor(good, "maybe"); err == nil {
		t.Error("on_failure is any word")
	}
	if _, err := b.Interceptor(extern.Command{Name: "x", On: []string{"alert"}, Argv: []string{"sh"}}, ""); err == nil {
		t.Error("an interceptor is asked about alerts")
	}
}
