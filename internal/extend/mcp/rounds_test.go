package mcp_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/internal/extend/mcp"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// roundsServer answers calls with what it wants to know first, as since 2026-07-28.
func roundsServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "rounds", Version: "1"}, &sdk.ServerOptions{SupportedProtocolVersions: []string{"2026-07-28"}})
	type args struct {
		Message string   `json:"message,omitempty"`
		Schema  string   `json:"schema,omitempty"`
		URL     string   `json:"url,omitempty"`
		Rounds  int      `json:"rounds,omitempty"`
		Asks    []string `json:"asks,omitempty"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "asks"}, func(_ context.Context, r *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
		if len(r.Params.RequestState) < in.Rounds {
			p := &sdk.ElicitParams{Message: cmp.Or(in.Message, "Tell me."), URL: in.URL}
			if in.URL == "" {
				p.RequestedSchema = json.RawMessage(in.Schema)
			} else {
				p.Mode, p.ElicitationID = "url", "1"
			}
			asks := sdk.InputRequestMap{}
			for _, name := range in.Asks {
				asks[name] = p
			}
			return &sdk.CallToolResult{InputRequests: asks, RequestState: r.Params.RequestState + "x"}, nil, nil
		}
		var answers []string
		for name, answer := range r.Params.InputResponses {
			text, _ := json.Marshal(answer)
			answers = append(answers, name+": "+string(text))
		}
		slices.Sort(answers)
		return said(strings.Join(answers, "\n")), nil, nil
	})
	return s
}

// A server that speaks the newest version asks in its answer, over and over, and gets the answers with the call that podd repeats.
func TestRounds(t *testing.T) {
	b := newBench(t, "rounds")
	var mu sync.Mutex
	var keys []string
	var fields []string
	got, err := b.asks(map[string]any{"schema": wholeSchema, "rounds": 2, "asks": []string{"one"}}, func(_ context.Context, key string, f item.Form) (item.ApprovalResolved, error) {
		mu.Lock()
		defer mu.Unlock()
		if keys = append(keys, key); fields == nil {
			for _, q := range f.Questions {
				fields = append(fields, q.Header)
			}
		}
		return item.ApprovalResolved{Dismissed: true}, nil
	})
	if err != nil || got != `one: {"action":"decline"}` || fmt.Sprint(keys) != "[1 2]" {
		t.Errorf("the server got %s, %v; keys %v", got, err, keys)
	}
	if want := "Port host mail level colour ratio deep tags days"; strings.Join(fields, " ") != want {
		t.Errorf("the fields are %v", fields)
	}
	if look := b.Look(b.server, b.dir); look.Listing.Protocol != "2026-07-28" {
		t.Errorf("podd speaks %s", look.Listing.Protocol)
	}
}

// With several calls at once a form belongs to the call that was answered with it.
func TestRoundsOfSeveralCalls(t *testing.T) {
	b := newBench(t, "rounds")
	ask := b.tool("ask")
	var all, both sync.WaitGroup
	both.Add(2)
	for _, name := range []string{"ada", "bob"} {
		all.Go(func() {
			arguments := fmt.Sprintf(`{"message":"for %s","schema":"{\"type\":\"object\"}","rounds":1,"asks":["%s"]}`, name, name)
			out, err := ask.Run(t.Context(), &tool.Invocation{Arguments: arguments, Asks: func(_ context.Context, _ string, f item.Form) (item.ApprovalResolved, error) {
				if f.Text != "for "+name {
					t.Errorf("the form of %s is %q", name, f.Text)
				}
				both.Done()
				both.Wait()
				return item.ApprovalResolved{Dismissed: true}, nil
			}})
			if err != nil || out.Text() != name+`: {"action":"decline"}` {
				t.Errorf("%s: %s, %v", name, out.Text(), err)
			}
		})
	}
	all.Wait()
}

// A server that asks for ever, or wants nothing and does not go on either, costs its call.
func TestRoundsWithoutEnd(t *testing.T) {
	b := newBench(t, "rounds")
	for _, asks := range [][]string{{"one"}, nil} {
		_, err := b.asks(map[string]any{"schema": `{"type":"object"}`, "rounds": 1000, "asks": asks}, func(context.Context, string, item.Form) (item.ApprovalResolved, error) {
			return item.ApprovalResolved{Dismissed: true}, nil
		})
		if err == nil || !strings.Contains(err.Error(), "exceeded maximum") {
			t.Errorf("the call ends with %v", err)
		}
	}
	b.Close()
	if alerts := b.told(); len(alerts) > 0 {
		t.Errorf("alerts: %q", alerts)
	}
}

// modern has the answers of a server that speaks the newest version alone.
func modern(call string) map[string]string {
	return map[string]string{
		"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"new"}}`,
		"tools/list":      `{"resultType":"complete","tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`,
		"tools/call":      call,
	}
}

// modernWeb is a server over HTTP that speaks the newest version alone.
type modernWeb struct {
	answers map[string]string

	mu  sync.Mutex
	got []string
}

// ServeHTTP notes what the headers say.
func (s *modernWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	reply := rawReply(body, s.answers)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, strings.Join([]string{r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name"), r.Header.Get("Mcp-Param-Region")}, "|"))
	if r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" || r.Header.Get("Mcp-Session-Id") != "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", asJSON)
	_, _ = io.WriteString(w, reply)
}

func (s *modernWeb) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *modernWeb) bench(t *testing.T, adjust ...func(*mcp.Config)) *bench {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	b := newBench(t, "good", adjust...)
	b.server = mcp.Server{Name: "test", URL: server.URL, StartTimeout: time.Minute, Timeout: time.Minute, Origin: "config.toml:1"}
	return b
}

// olderServer is a process that was written before the newest version. It ignores what it does not know before it was initialized, or
// leaves.
func olderServer(leaves bool) {
	scanner, greeted := bufio.NewScanner(os.Stdin), false
	for scanner.Scan() {
		greeted = greeted || strings.Contains(scanner.Text(), `"initialize"`)
		if !greeted && leaves {
			return
		}
		if reply := rawReply(scanner.Bytes(), olderAnswers); greeted && reply != "" {
			fmt.Println(reply)
		}
	}
}

var olderAnswers = map[string]string{
	"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`,
	"tools/list": toolsPage("hello", ""),
	"tools/call": `{"content":[{"type":"text","text":"hi"}]}`,
}

// What a server answers with a type that podd does not know is an error of the call alone.
func TestUnknownTypesOfResults(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		`{"resultType":"complete","content":[{"type":"text","text":"hi"}]}`:                               "hi",
		`{"content":[{"type":"text","text":"hi"}],"inputRequests":{"a":{"method":"elicitation/create"}}}`: "hi",
		`{"resultType":"telepathy","content":[{"type":"text","text":"hi"}]}`:                              "the answer is of the type telepathy, which podd does not know",
		`{"resultType":7}`: "the answer is of the type 7, which podd does not know",
		`{"resultType":"input_required","inputRequests":{"a":{"method":"telepathy/begin","params":{}}}}`:        "answered in a form that podd cannot read",
		`{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}`: "refused the call",
		`{"resultType":"input_required","inputRequests":[]}`:                                                    "answered in a form that podd cannot read",
	} {
		b := (&modernWeb{answers: modern(call)}).bench(t)
		out, err := b.tool("hello").Run(t.Context(), &tool.Invocation{Arguments: "{}"})
		got := text(out)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q", call, got)
		}
		b.Close()
		if alerts := b.told(); len(alerts) > 0 {
			t.Errorf("%s: alerts %q", call, alerts)
		}
	}
}

// A server of before the newest version that answers nothing else than initialize, and one that ends when it is asked for anything else
// first, work as before.
func TestOlderServers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ignores", "leaves"} {
		b := newBench(t, mode)
		b.server.StartTimeout = 10 * time.Second
		if out := b.call("hello", "{}"); text(out) != "hi" {
			t.Errorf("%s: %s", mode, text(out))
		}
		if look := b.Look(b.server, b.dir); look.Listing.Protocol != "2025-11-25" {
			t.Errorf("%s: podd speaks %s", mode, look.Listing.Protocol)
		}
		b.Close()
		if alerts := b.told(); len(alerts) > 0 {
			t.Errorf("%s: alerts %q", mode, alerts)
		}
	}
}

// The headers of requests say what their bodies say, and which arguments the server wants there.
func TestHeadersOfTheNewestVersion(t *testing.T) {
	t.Parallel()
	s := &modernWeb{answers: modern(`{"resultType":"complete","content":[]}`)}
	s.answers["tools/list"] = `{"resultType":"complete","tools":[{"name":"hello","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},` +
		`{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}}]}`
	b := s.bench(t)
	b.call("hello", `{"region":"a b"}`)
	if tools := b.Look(b.server, b.dir).Listing.Tools; len(tools) != 1 {
		t.Errorf("%d tools", len(tools))
	}
	want := []string{"server/discover||", "tools/list||", "tools/call|hello|a b"}
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A list that a server gives for a while alone is asked for again after that.
func TestListsForAWhile(t *testing.T) {
	t.Parallel()
	s := &modernWeb{answers: modern(`{"resultType":"complete","content":[]}`)}
	s.answers["tools/list"] = `{"resultType":"complete","ttlMs":1,"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`
	var mu sync.Mutex
	now := time.Now()
	b := s.bench(t, func(c *mcp.Config) {
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	})
	lists := func() (n int) {
		for _, r := range s.requests() {
			if strings.HasPrefix(r, "tools/list") {
				n++
			}
		}
		return n
	}
	if b.call("hello", "{}"); lists() != 1 {
		t.Errorf("%d lists at first", lists())
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	if b.call("hello", "{}"); lists() != 2 {
		t.Errorf("%d lists after a minute", lists())
	}
}

// podd keeps the schema of a tool whole. A request lacks the name of its dialect, which changes nothing about the tool either.
func TestSchemaIsKept(t *testing.T) {
	t.Parallel()
	s := &modernWeb{answers: modern(`{"resultType":"complete","content":[]}`)}
	const rest = `"properties":{"a":{"type":"string"}},"type":"object"}`
	const whole = `{"$schema":"https://json-schema.org/draft/2020-12/schema",` + rest
	s.answers["tools/list"] = `{"resultType":"complete","tools":[{"name":"hello","inputSchema":` + whole + `}]}`
	b := s.bench(t)
	offered := b.Tools(t.Context(), []mcp.Server{b.server}, b.dir, true)
	listed := b.Look(b.server, b.dir).Listing.Tools
	if len(offered) != 1 || offered[0].Spec().Schema != "{"+rest || listed[0].Schema != whole {
		t.Fatalf("offered %v, listed %v", offered, listed)
	}
	before := listed[0]
	if before.Schema = "{" + rest; before.Digest() != listed[0].Digest() {
		t.Error("a tool that an earlier podd knows has changed")
	}
}
