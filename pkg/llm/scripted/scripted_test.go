package scripted_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apis runs a test through both APIs.
func apis(t *testing.T, run func(t *testing.T, api string)) {
	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		t.Run(api, func(t *testing.T) { run(t, api) })
	}
}

// start serves and returns a client; both end with the test.
func start(t *testing.T, cfg scripted.Config, api string) (*scripted.Server, *openai.Client) {
	t.Helper()
	srv, err := scripted.Serve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openai.New(openai.Config{BaseURL: srv.URL(), API: api, APIKey: cfg.Key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, c
}

// follow is a server that follows a script.
func follow(t *testing.T, script, api string) (*scripted.Server, *openai.Client) {
	t.Helper()
	s, err := scripted.Parse(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	return start(t, scripted.Config{Script: s}, api)
}

// answer is a reply as the client decoded it.
type answer struct {
	items []item.Item
	end   llm.End
}

func (a answer) text() string {
	for _, it := range a.items {
		if m, ok := it.(item.AssistantMessage); ok {
			return m.Text
		}
	}
	return ""
}

// ask sends the items and collects the answer as the worker would.
func ask(ctx context.Context, c *openai.Client, items ...item.Item) (answer, error) {
	body, err := c.Body(llm.Request{Setup: item.Setup{Model: "scripted", Instructions: "be brief"}, Items: items})
	if err != nil {
		return answer{}, err
	}
	type block struct {
		llm.BlockStart
		text   strings.Builder
		opaque item.Opaque
	}
	var blocks []*block
	var a answer
	for ev, err := range c.Stream(ctx, body) {
		if err != nil {
			return a, err
		}
		switch v := ev.(type) {
		case llm.BlockStart:
			blocks = append(blocks, &block{BlockStart: v})
		case llm.BlockDelta:
			blocks[v.Block].text.WriteString(v.Text)
		case llm.BlockEnd:
			blocks[v.Block].opaque = v.Opaque
		case llm.End:
			a.end = v
		}
	}
	for _, b := range blocks {
		switch b.Kind {
		case llm.BlockText:
			a.items = append(a.items, item.AssistantMessage{Text: b.text.String(), Opaque: b.opaque})
		case llm.BlockReasoning:
			a.items = append(a.items, item.Reasoning{Text: b.text.String(), Opaque: b.opaque})
		case llm.BlockToolCall:
			a.items = append(a.items, item.ToolCall{CallID: b.CallID, Name: b.Name, Arguments: b.text.String(), Opaque: b.opaque})
		}
	}
	return a, nil
}

const walk = `
# a walk with tools
step
expect user "look"
expect system "brief"
reasoning I should read it.
text Reading
| both files.
call read_file {"path": "a"}
call read_file
| {"path":
|  "b"}
step
expect tool "forty lines"
text Done.
usage input=100 cached=64 output=7 reasoning=3
on "thanks"
step
text You are welcome.
otherwise
text I follow a script.
`

func TestScriptIsFollowed(t *testing.T) {
	apis(t, func(t *testing.T, api string) {
		srv, c := follow(t, walk, api)
		items := []item.Item{item.UserMessage{Text: "look at it"}}
		first, err := ask(t.Context(), c, items...)
		if err != nil {
			t.Fatal(err)
		}
		if len(first.items) != 4 || first.text() != "Reading\nboth files." {
			t.Fatalf("first answer: %+v", first)
		}
		call := first.items[3].(item.ToolCall)
		if call.Name != "read_file" || call.Arguments != "{\"path\":\n \"b\"}" || call.CallID == first.items[2].(item.ToolCall).CallID {
			t.Errorf("second call: %+v", call)
		}
		items = append(items, first.items...)
		for _, it := range first.items[2:] {
			items = append(items, item.ToolResult{CallID: it.(item.ToolCall).CallID, Output: item.Output{Summary: "forty lines"}})
		}
		second, err := ask(t.Context(), c, items...)
		if err != nil {
			t.Fatal(err)
		}
		want := item.Usage{Input: 100, CachedInput: 64, Output: 7, Reasoning: 3, Requests: 1}
		if second.text() != "Done." || second.end.Usage != want || !second.end.Measured {
			t.Errorf("second answer: %+v", second)
		}
		items = append(items, second.items...)
		for _, say := range []struct{ user, want string }{{"thanks!", "You are welcome."}, {"and now?", "I follow a script."}} {
			items = append(items, item.UserMessage{Text: say.user})
			a, err := ask(t.Context(), c, items...)
			if err != nil || a.text() != say.want {
				t.Errorf("after %q: %q, %v", say.user, a.text(), err)
			}
			items = append(items, a.items...)
		}
		if n := len(srv.Requests()); n != 4 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestFaultsPass(t *testing.T) {
	cases := map[string]struct {
		line  string
		class llm.Class
	}{
		"cut":     {"cut", llm.ClassCut},
		"reset":   {"reset", llm.ClassCut},
		"fail":    {`fail 429 code=rate_limit_exceeded slow down`, llm.ClassRateLimit},
		"quota":   {`fail 429 code=insufficient_quota no money`, llm.ClassQuota},
		"html":    {"html", llm.ClassProtocol},
		"context": {"fail 400 code=context_length_exceeded too long", llm.ClassContext},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			apis(t, func(t *testing.T, api string) {
				_, c := follow(t, "step\ntext one two\n"+tc.line+"\ntext  three\n", api)
				_, err := ask(t.Context(), c, item.UserMessage{Text: "go"})
				if llm.ClassOf(err) != tc.class {
					t.Fatalf("first attempt: %v, class %q", err, llm.ClassOf(err))
				}
				a, err := ask(t.Context(), c, item.UserMessage{Text: "go"})
				if err != nil || !strings.Contains(fmt.Sprint(a.items), "three") {
					t.Fatalf("second attempt: %v %v", a, err)
				}
			})
		})
	}
}
