package pod_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podd/internal/guard/policy"
	"podd/internal/workspace"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// desk is a server with tools whose definitions cost too much for each request. more says that it
// has one more.
type desk struct {
	mu   sync.Mutex
	ran  []string
	more atomic.Bool
	// hangs is closed when the tool hang runs.
	hangs chan struct{}
}

func (d *desk) tools(t *testing.T) []tool.Tool {
	var tools []tool.Tool
	add := func(name, description string, call func(context.Context, *tool.Invocation) (tool.Output, error)) {
		made, err := tool.NewForeign(tool.Foreign{
			ToolSpec: item.ToolSpec{
				Name: "mcp__desk__" + name, Description: description,
				Schema: `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`,
			},
			Touches: func() tool.Access { return tool.Access{Note: "its server says that it only reads"} }, Call: call,
		})
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, made)
	}
	run := func(_ context.Context, c *tool.Invocation) (tool.Output, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ran = append(d.ran, c.Arguments)
		return tool.FromString("ticket found"), nil
	}
	add("find", "Finds a ticket.", run)
	add("hang", "Never ends.", func(ctx context.Context, c *tool.Invocation) (tool.Output, error) {
		_, _ = run(ctx, c)
		close(d.hangs)
		<-ctx.Done()
		return tool.Output{}, context.Cause(ctx)
	})
	for i := range 60 {
		add(fmt.Sprintf("other_%02d", i), strings.Repeat("Something else. ", 40), run)
	}
	if d.more.Load() {
		add("zoom", "Opens a ticket.", run)
	}
	return tools
}

// options give the desk to all pods.
func (d *desk) options(t *testing.T, rules ...item.Rule) func(*options) {
	d.hangs = make(chan struct{})
	return func(c *options) {
		c.ForeignPrefix, c.Rules = "mcp__", rules
		c.Project = func(string) workspace.Project {
			return workspace.Project{Tools: func(context.Context, bool) []tool.Tool { return d.tools(t) }}
		}
	}
}

func (d *desk) calls() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.ran, " ")
}

func viaCallTool(name, arguments string) scripted.Call {
	return scripted.Call{Name: "call_tool", Arguments: fmt.Sprintf(`{"name": %q, "arguments": %s}`, name, arguments)}
}

var allowDesk = item.Rule{Tool: "mcp__desk__*", Decision: policy.Allow}

// listed are the names of the tools that a request lists.
func listed(t *testing.T, body []byte) (names []string, raw string) {
	t.Helper()
	var r struct {
		Tools json.RawMessage
	}
	var tools []struct{ Function struct{ Name string } }
	if json.Unmarshal(body, &r) != nil || json.Unmarshal(r.Tools, &tools) != nil {
		t.Fatalf("request %s", body)
	}
	for _, f := range tools {
		names = append(names, f.Function.Name)
	}
	return names, string(r.Tools)
}

// Whoever decides on a call, is asked about it or reads the log meets the tool that it names, and
// requests stay as they were.
func TestSearchedTool(t *testing.T) {
	d := &desk{}
	var mu sync.Mutex
	var seen []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf(format, args...))
	}
	watch := &edges{
		call: func(c interceptor.Call) interceptor.CallVerdict {
			note("before %s %s", c.Tool, c.Arguments)
			return c.Continue()
		},
		result: func(r interceptor.Result) interceptor.ResultVerdict { note("after %s", r.Tool); return r.Continue() },
	}
	h := newHouse(t, steps(
		scripted.Say(scripted.Call{Name: "find_tool", Arguments: `{"query":"find a ticket"}`}),
		scripted.Say(viaCallTool("mcp__desk__find", `{ "id": "7" }`)),
	), d.options(t), with(watch))
	s := h.submit("go")
	q := h.asked(1)[0]
	if q.Tool != "mcp__desk__find" || q.Arguments != `{"id":"7"}` || !strings.Contains(q.Question, `"mcp__desk__find" (its server says that it only reads)`) {
		t.Errorf("asked %+v", q)
	}
	h.resolve(pod.Resolution{CallSeq: q.CallSeq, Approve: true, Digest: q.Digest, By: "ann"})
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || d.calls() != `{"id":"7"}` {
		t.Errorf("end %+v, ran %s", end, d.calls())
	}
	if want := []string{`before find_tool {"query":"find a ticket"}`, "after find_tool", `before mcp__desk__find {"id":"7"}`, `before mcp__desk__find {"id":"7"}`, "after mcp__desk__find"}; !slices.Equal(seen, want) {
		t.Errorf("interceptors saw %q", seen)
	}
	r := results(h.log())
	if !strings.Contains(r[0].Content, "mcp__desk__find\nFinds a ticket.\narguments: {") || r[1].Tool != "mcp__desk__find" {
		t.Errorf("results %+v", r)
	}
	if started := kinds[item.ToolStarted](h.log()); started[1].Tool != "mcp__desk__find" || started[1].Arguments != `{"id":"7"}` {
		t.Errorf("started %+v", started)
	}
	i := slices.IndexFunc(items(h.log()), func(it item.Item) bool { c, ok := it.(item.ToolCall); return ok && c.Via != "" })
	if c := items(h.log())[i].(item.ToolCall); c.Via != "call_tool" || c.Name != "mcp__desk__find" || c.Arguments != `{ "id": "7" }` {
		t.Errorf("call %+v", c)
	}
	h.restart()
	h.run("again")
	h.wantSteadyRequests(0)
	if names, _ := listed(t, h.model.Requests()[0]); !slices.Equal(names[len(names)-2:], []string{"find_tool", "call_tool"}) || slices.Contains(names, "mcp__desk__find") {
		t.Errorf("listed %q", names)
	}
	if !strings.Contains(h.body(3), `"name":"call_tool","arguments":"{\"name\":\"mcp__desk__find\",\"arguments\":{ \"id\": \"7\" }}"`) {
		t.Errorf("the call goes back as another: %s", h.body(3))
	}
}

// While the model writes a call, clients see the tool that it names, and never call_tool.
func TestSearchedToolWhileItIsWritten(t *testing.T) {
	d := &desk{}
	gate := make(chan struct{})
	h := newHouse(t, steps(scripted.Say(viaCallTool("mcp__desk__find", `{"id":"7"}`), scripted.Wait(gate))), d.options(t, allowDesk))
	s := h.submit("go")
	var shown []string
	for ev, err := range h.host.Logs.Stream(t.Context(), pod.StreamQuery{Pod: "p", Follow: true, Deltas: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range slices.Concat(ev.InFlight, ev.Deltas) {
			if l.Kind == item.DeltaToolArguments {
				shown = append(shown, l.Tool)
			}
		}
		if n := len(shown); n > 0 && shown[n-1] != "" {
			break
		}
	}
	close(gate)
	h.ended(s)
	if shown = slices.Compact(shown); shown[len(shown)-1] != "mcp__desk__find" || len(shown) > 2 {
		t.Errorf("shown while it is written: %q", shown)
	}
}

// wantSteadyRequests checks that each request from one on goes on from the one before, with the
// same tools.
func (h *house) wantSteadyRequests(from int) {
	h.t.Helper()
	requests := h.model.Requests()
	for i := from; i < len(requests)-1; i++ {
		_, before := listed(h.t, requests[i])
		if _, after := listed(h.t, requests[i+1]); after != before {
			h.t.Errorf("request %d lists other tools:\n%s\n%s", i+2, before, after)
		}
		if !bytes.HasPrefix(requests[i+1], bytes.TrimRight(requests[i], `"]}`)) {
			h.t.Errorf("request %d does not go on from the one before:\n%s\n%s", i+2, requests[i], requests[i+1])
		}
	}
}

// Rules know the tool by its own name; what cannot run says what to do instead.
func TestSearchedToolRefused(t *testing.T) {
	d := &desk{}
	h := newHouse(t, steps(scripted.Say(
		viaCallTool("mcp__desk__find", `{"id":"1"}`),
		viaCallTool("mcp__desk__other_07", `{"id":"2"}`),
		viaCallTool("mcp__desk__find", `{"ticket":"3"}`),
		viaCallTool("mcp__desk__fnid", `{"id":"4"}`),
		viaCallTool("list_dir", `{}`),
		scripted.Call{Name: "call_tool", Arguments: `{"name":"mcp__desk__find","id":"6"}`},
		scripted.Call{Name: "mcp__desk__find", Arguments: `{"id":"7"}`},
	)), d.options(t, allowDesk, item.Rule{Tool: "mcp__desk__other_*", Decision: policy.Deny, Source: "config.toml:9"}))
	h.run("go")
	if d.calls() != `{"id":"1"} {"id":"7"}` && d.calls() != `{"id":"7"} {"id":"1"}` {
		t.Errorf("ran %s", d.calls())
	}
	for i, want := range []string{
		"ticket found",
		"mcp__desk__other_07: denied: ",
		`mcp__desk__find: invalid arguments: `,
		`there is no tool "mcp__desk__fnid"; did you mean mcp__desk__find`,
		"list_dir: .",
		`call_tool: invalid arguments: unknown field "id"; write {"name": "the exact name", "arguments": {...}}`,
		"ticket found",
	} {
		r := results(h.log())[i]
		if text := r.Summary + r.Content; !strings.Contains(text, want) {
			t.Errorf("call %d: %q, want %q", i, text, want)
		}
	}
	if text := results(h.log())[2]; !strings.Contains(text.Summary+text.Content, `its arguments are {"properties"`) && !strings.Contains(text.Summary+text.Content, `its arguments are {"type"`) {
		t.Errorf("the schema is not shown: %+v", text)
	}
}

// The loop guard compares the calls of the real tool, and names it.
func TestSearchedToolInALoop(t *testing.T) {
	d := &desk{}
	h := newHouse(t, func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Say(viaCallTool("mcp__desk__find", `{"id":"7"}`))
	}, d.options(t, allowDesk))
	if end := h.run("go"); end.Reason != "LOOP" || !strings.Contains(end.Cause, "mcp__desk__find") {
		t.Errorf("end %+v", end)
	}
}

// A call that podd was killed in is not repeated, and its result is that of the real tool.
func TestSearchedToolKilled(t *testing.T) {
	d := &desk{}
	h, f := newFaultyHouse(t, steps(scripted.Say(viaCallTool("mcp__desk__hang", `{"id":"7"}`))), d.options(t, allowDesk))
	s := h.submit("go")
	<-d.hangs
	h.kill(f)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished || d.calls() != `{"id":"7"}` {
		t.Errorf("end %+v, ran %s", end, d.calls())
	}
	if r := results(h.log()); len(r) != 1 || r[0].Tool != "mcp__desk__hang" || !strings.Contains(r[0].Summary, "may have taken effect") {
		t.Errorf("results %+v", r)
	}
	h.wantSteadyRequests(0)
}

// A tool that appears in the middle of a turn is found in the next one, and no request changes.
func TestSearchedToolAppears(t *testing.T) {
	d := &desk{}
	query := scripted.Say(scripted.Call{Name: "find_tool", Arguments: `{"query":"mcp__desk__zoom"}`})
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		d.more.Store(true)
		if n := r.Steps(); n == 0 || n == 2 {
			return query
		}
		return scripted.Say(scripted.Text("done"))
	}, d.options(t, allowDesk))
	h.run("one")
	h.run("two")
	r := results(h.log())
	if len(r) != 2 || strings.HasPrefix(r[0].Content, "mcp__desk__zoom\n") || !strings.HasPrefix(r[1].Content, "mcp__desk__zoom\n") {
		t.Errorf("results %+v", r)
	}
	h.wantSteadyRequests(0)
}

// A fork sends the calls of its past as they were, and a rewind takes them back.
func TestSearchedToolInAFork(t *testing.T) {
	d := &desk{}
	h := newHouse(t, steps(scripted.Say(viaCallTool("mcp__desk__find", `{"id":"7"}`))), d.options(t, allowDesk))
	h.run("go")
	if _, err := h.host.Fork(t.Context(), "p", "q", 0); err != nil {
		t.Fatal(err)
	}
	shown, err := h.host.Context(t.Context(), "q")
	if err != nil || !strings.Contains(string(shown.Body), `{\"name\":\"mcp__desk__find\",\"arguments\":{\"id\":\"7\"}}`) {
		t.Errorf("%s, %v", shown.Body, err)
	}
}

// A sub-pod gets tools by their own names, and few of them are listed.
func TestSearchedToolOfASubPod(t *testing.T) {
	d := &desk{}
	h := spawning(t, 1, map[string]scripted.Handler{
		"parent": steps(scripted.Say(
			scripted.Call{Name: "spawn_pod", Arguments: `{"task":"child find it","tools":["mcp__desk__find","read_file"]}`},
			scripted.Call{Name: "spawn_pod", Arguments: `{"task":"child find it","tools":["teleport"]}`})),
		"child": steps(scripted.Say(scripted.Call{Name: "mcp__desk__find", Arguments: `{"id":"7"}`})),
	}, d.options(t, allowDesk))
	h.run("parent go")
	if d.calls() != `{"id":"7"}` {
		t.Errorf("ran %s: %+v", d.calls(), results(h.log()))
	}
	i := slices.IndexFunc(h.model.Requests(), func(body []byte) bool { return !bytes.Contains(body, []byte("parent go")) })
	if names, _ := listed(t, h.model.Requests()[i]); !slices.Equal(names, []string{"read_file", "mcp__desk__find"}) {
		t.Errorf("the sub-pod has %q", names)
	}
}

// Few tools are listed as they are.
func TestFewToolsAreListed(t *testing.T) {
	d := &desk{}
	h := newHouse(t, readLoop(0), d.options(t), func(c *options) {
		c.Project = func(string) workspace.Project {
			return workspace.Project{Tools: func(context.Context, bool) []tool.Tool { return d.tools(t)[:40] }}
		}
	})
	h.run("go")
	if names, _ := listed(t, h.model.Requests()[0]); slices.Contains(names, "find_tool") || !slices.Contains(names, "mcp__desk__find") {
		t.Errorf("listed %q", names)
	}
}

// sized are tools whose names, descriptions and schemas have so many bytes together.
func sized(t *testing.T, bytes int) (tools []tool.Tool) {
	t.Helper()
	const schema = `{"type":"object","properties":{}}`
	for i := 0; bytes > 0; i++ {
		name := fmt.Sprintf("mcp__desk__tool_%02d", i)
		size := min(bytes, 4000)
		if rest := bytes - size; rest > 0 && rest < 1000 {
			size -= 1000
		}
		bytes -= size
		made, err := tool.NewForeign(tool.Foreign{
			ToolSpec: item.ToolSpec{Name: name, Description: strings.Repeat("x", size-len(name)-len(schema)), Schema: schema},
			Touches:  func() tool.Access { return tool.Access{} },
			Call:     func(context.Context, *tool.Invocation) (tool.Output, error) { return tool.FromString("done"), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, made)
	}
	return tools
}

// Up to 8,000 tokens, at four bytes each, tools are listed; one byte more puts all of them behind
// the search. A list that changes its size in a turn stays as it is until the next one.
func TestSearchBeginsAbove8000Tokens(t *testing.T) {
	var size atomic.Int64
	var grown int64
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		size.Store(grown)
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "list_dir", Arguments: "{}"})
		}
		return scripted.Say(scripted.Text("done"))
	}, func(c *options) {
		c.ForeignPrefix = "mcp__"
		c.Project = func(string) workspace.Project {
			return workspace.Project{Tools: func(context.Context, bool) []tool.Tool { return sized(t, int(size.Load())) }}
		}
	})
	for _, turn := range []struct {
		begin, then int64
		searched    bool
	}{{32_000, 32_001, false}, {32_001, 32_000, true}, {32_000, 100_000, false}, {100_000, 4_000, true}} {
		size.Store(turn.begin)
		grown = turn.then
		before := len(h.model.Requests())
		h.run("go")
		requests := h.model.Requests()[before:]
		names, first := listed(t, requests[0])
		if slices.Contains(names, "find_tool") != turn.searched || slices.Contains(names, "mcp__desk__tool_00") == turn.searched {
			t.Errorf("tools of %d bytes are listed as %q", turn.begin, names)
		}
		for i, body := range requests[1:] {
			if _, then := listed(t, body); then != first {
				t.Errorf("request %d of the turn lists other tools", i+2)
			}
		}
	}
}
