package llmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// suite is one run.
type suite struct {
	Profile
	open Open
}

// Run runs the whole suite for a wire.
func Run(t *testing.T, p Profile, open Open) {
	s := &suite{p, open}
	for _, tc := range []struct {
		name string
		test func(*testing.T)
	}{
		{"whole answer", s.whole},
		{"calls", s.calls},
		{"an answer goes back", s.roundTrip},
		{"unfinished answers go back", s.unfinished},
		{"stop reasons", s.stops},
		{"no usage", s.noUsage},
		{"broken answers", s.broken},
		{"refusals", s.refusals},
		{"cancel", s.cancel},
		{"the consumer stops", s.consumerStops},
		{"many at once", s.concurrent},
		{"resolve", s.resolve},
		{"hostile items", s.hostileItems},
		{"bodies grow at their end", s.prefix},
		{"bodies of an encoder", s.encoder},
		{"reasoning of others stays out", s.foreign},
		{"calls of others", s.foreignCalls},
		{"images", s.images},
		{"options that requests leave out", s.fits},
	} {
		t.Run(tc.name, tc.test)
	}
	if !s.NoSealed {
		t.Run("reasoning that only the endpoint reads", s.sealed)
	}
}

// request is a request with these items.
func request(items ...item.Item) llm.Request {
	return llm.Request{
		Setup: item.Setup{
			Model:        "scripted",
			Instructions: "Be brief.",
			Tools:        []item.ToolSpec{{Name: "read_file", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}},
		},
		Items: items,
	}
}

// ask sends a request and reads the answer.
func ask(t *testing.T, m llm.Model, r llm.Request) (Result, error) {
	t.Helper()
	body, err := m.Body(r)
	if err != nil {
		t.Fatal(err)
	}
	return Collect(m.Stream(t.Context(), body))
}

var hello = item.UserMessage{Text: "hello"}

func (s *suite) whole(t *testing.T) {
	usage := item.Usage{Input: 100, CachedInput: 64, CacheWrite: 30, Output: 9, Reasoning: 4, Requests: 1}
	ep := s.open(t, Answer{Reasoning: "I think, so I am.", Text: "Hello, wörld ✓ \"quoted\"\n\tand tabbed.", Usage: usage})
	r, err := ask(t, ep.Model, request(hello))
	switch {
	case err != nil:
		t.Fatal(err)
	case !r.Whole || r.End.Stop != llm.StopDone:
		t.Errorf("end: %+v", r.End)
	case r.Text() != "Hello, wörld ✓ \"quoted\"\n\tand tabbed." || r.Reasoning() != "I think, so I am.":
		t.Errorf("text %q, reasoning %q", r.Text(), r.Reasoning())
	case !r.End.Measured || r.End.Usage != usage:
		t.Errorf("usage: %+v", r.End)
	case r.End.Model != "scripted":
		t.Errorf("model %q", r.End.Model)
	}
	body, _ := ep.Model.Body(request(hello))
	if got := ep.Requests(); len(got) != 1 || !bytes.Equal(got[0], body) {
		t.Errorf("%d requests arrived; the first is not the body that was sent", len(got))
	}
}

func (s *suite) calls(t *testing.T) {
	calls := []item.ToolCall{
		{Name: "read_file", Arguments: `{"path": "a.go"}`},
		{Name: "read_file", Arguments: `{"path": "b.go"}`},
		{Name: "shell", Arguments: `{"command":"echo \"x\" > y","n":{"deep":[1,2,{}]}}`},
		{Name: "todo", Arguments: `{}`},
	}
	r, err := ask(t, s.open(t, Answer{Text: "Reading.", Calls: calls}).Model, request(hello))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, got := range r.Calls() {
		if got.Name != calls[i].Name || got.Arguments != calls[i].Arguments {
			t.Errorf("call %d: %+v", i, got)
		}
		ids[got.CallID] = true
	}
	if len(r.Calls()) != len(calls) || len(ids) != len(calls) {
		t.Errorf("%d calls with %d ids", len(r.Calls()), len(ids))
	}
	if r.End.Stop != llm.StopDone {
		t.Errorf("stop %q", r.End.Stop)
	}
}

// roundTrip sends an answer back with its results. The endpoint refuses a malformed
// request.
func (s *suite) roundTrip(t *testing.T) {
	ep := s.open(t,
		Answer{Reasoning: "Look first.", Text: "Reading.", Calls: []item.ToolCall{{Name: "read_file", Arguments: `{"path":"a"}`}, {Name: "read_file", Arguments: `{"path":"b"}`}}},
		Answer{Text: "Done."},
		Answer{Text: "Again."})
	items := []item.Item{hello}
	for i, want := range []string{"Reading.", "Done.", "Again."} {
		r, err := ask(t, ep.Model, request(items...))
		if err != nil || r.Text() != want {
			t.Fatalf("answer %d: %q, %v", i, r.Text(), err)
		}
		items = append(items, r.Items...)
		for _, c := range r.Calls() {
			items = append(items, item.ToolResult{CallID: c.CallID, Tool: c.Name, Output: item.Output{Summary: "read", Content: "forty-two " + c.Arguments}})
		}
		if len(r.Calls()) == 0 {
			items = append(items, item.UserMessage{Text: "and then?"})
		}
	}
	for i, body := range ep.Requests() {
		if i > 0 && !bytes.Contains(body, []byte("forty-two")) {
			t.Errorf("request %d misses a result", i)
		}
	}
}

// unfinished sends answers back that are no answers, and a text that came behind a call.
func (s *suite) unfinished(t *testing.T) {
	ep := s.open(t,
		Answer{Reasoning: "I think, so", Stop: llm.StopLength},
		Answer{Reasoning: "Look first.", Calls: []item.ToolCall{{Name: "read_file", Arguments: `{"path":"a"}`}}},
		Answer{Text: "Done."})
	items := []item.Item{hello}
	for i, more := range [][]item.Item{
		{item.AssistantMessage{Text: "\n\n"}, item.SystemMessage{Origin: item.OriginNoAnswer, Text: "go on"}},
		{item.AssistantMessage{Text: "Reading."}},
		{},
	} {
		r, err := ask(t, ep.Model, request(items...))
		if err != nil || !r.Whole {
			t.Fatalf("answer %d: %+v, %v", i, r, err)
		}
		items = append(append(items, r.Items...), more...)
		for _, c := range r.Calls() {
			items = append(items, item.ToolResult{CallID: c.CallID, Output: item.Output{Summary: "read"}})
		}
	}
	if body := ep.Requests()[2]; !bytes.Contains(body, []byte("Reading.")) || bytes.Contains(body, []byte("I think, so")) {
		t.Errorf("sent: %s", body)
	}
}

func (s *suite) stops(t *testing.T) {
	for _, stop := range []llm.StopReason{llm.StopDone, llm.StopLength, llm.StopFilter} {
		r, err := ask(t, s.open(t, Answer{Text: "one", Stop: stop}).Model, request(hello))
		if err != nil || r.End.Stop != stop || r.End.Reason == "" || r.Text() != "one" {
			t.Errorf("%s: %+v, %v", stop, r, err)
		}
	}
}

func (s *suite) noUsage(t *testing.T) {
	r, err := ask(t, s.open(t, Answer{Text: "one"}).Model, request(hello))
	if err != nil || r.End.Measured || r.End.Usage.Input != 0 {
		t.Errorf("%+v, %v", r.End, err)
	}
}

func (s *suite) broken(t *testing.T) {
	for _, ending := range []Ending{Cut, Reset} {
		ep := s.open(t, Answer{Text: "Half an answer", Calls: []item.ToolCall{{Name: "shell", Arguments: `{"command":"rm"}`}}, Ending: ending}, Answer{Text: "whole"})
		r, err := ask(t, ep.Model, request(hello))
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != llm.ClassCut || !e.Retryable() {
			t.Errorf("%s: error %v", ending, err)
		}
		if r.Whole || r.Text() != "Half an answer" {
			t.Errorf("%s: %+v", ending, r)
		}
		if r, err := ask(t, ep.Model, request(hello)); err != nil || r.Text() != "whole" {
			t.Errorf("after %s: %+v, %v", ending, r, err)
		}
	}
}

func (s *suite) refusals(t *testing.T) {
	for ending, class := range map[Ending]llm.Class{
		HTML:         llm.ClassProtocol,
		BadKey:       llm.ClassAuth,
		RateLimit:    llm.ClassRateLimit,
		Quota:        llm.ClassQuota,
		UnknownModel: llm.ClassUnknownModel,
		TooLong:      llm.ClassContext,
		Unavailable:  llm.ClassOverloaded,
		Invalid:      llm.ClassInvalid,
	} {
		ep := s.open(t, Answer{Ending: ending})
		r, err := ask(t, ep.Model, request(hello))
		e, ok := errors.AsType[*llm.Error](err)
		switch {
		case !ok || e.Class != class:
			t.Errorf("%s: error %v, class %q", ending, err, llm.ClassOf(err))
		case len(r.Items) > 0 || r.Whole:
			t.Errorf("%s: events %+v", ending, r)
		case e.Message == "" || len(e.Message) > 400:
			t.Errorf("%s: message of %d bytes", ending, len(e.Message))
		case ending == BadKey && strings.Contains(e.Message+e.Said+e.Code, ep.Key):
			t.Errorf("%s: the key is in the error: %+v", ending, e)
		case ending == RateLimit && e.RetryAfter != RetryAfter:
			t.Errorf("%s: retry after %s", ending, e.RetryAfter)
		}
	}
}

// cancel cancels a silent stream, and one before it begins.
func (s *suite) cancel(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ep := s.open(t, Answer{Text: "One word", Ending: Stall}, Answer{Text: "never"})
	body, err := ep.Model.Body(request(hello))
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range ep.Model.Stream(ctx, body) {
		last = err
		cancel(why)
	}
	if !errors.Is(last, why) {
		t.Errorf("cancelled within an answer: %v", last)
	}
	if _, err := Collect(ep.Model.Stream(ctx, body)); !errors.Is(err, why) {
		t.Errorf("cancelled before: %v", err)
	}
}

func (s *suite) consumerStops(t *testing.T) {
	ep := s.open(t, Answer{Text: "one two three four"}, Answer{Text: "next"})
	body, err := ep.Model.Body(request(hello))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range ep.Model.Stream(t.Context(), body) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if r, err := ask(t, ep.Model, request(hello)); err != nil || r.Text() != "next" {
		t.Errorf("the next request: %+v, %v", r, err)
	}
}

func (s *suite) concurrent(t *testing.T) {
	const n = 16
	answers := make([]Answer, n)
	for i := range answers {
		answers[i] = Answer{Text: fmt.Sprintf("%d is my number, %[1]d", i)}
	}
	ep := s.open(t, answers...)
	seen := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			body, err := ep.Model.Body(request(item.UserMessage{Text: fmt.Sprint("pod ", i)}))
			if err != nil {
				t.Error(err)
				return
			}
			r, err := Collect(ep.Model.Stream(t.Context(), body))
			if err != nil {
				t.Error(err)
			}
			seen[i] = r.Text()
		})
	}
	wg.Wait()
	texts := map[string]bool{}
	for _, s := range seen {
		texts[s] = true
	}
	if len(texts) != n {
		t.Errorf("%d different answers to %d requests: %v", len(texts), n, seen)
	}
}

func (s *suite) resolve(t *testing.T) {
	m := s.open(t).Model
	if got, err := m.Resolve(t.Context(), "named"); err != nil || got != "named" {
		t.Errorf("a named model: %q, %v", got, err)
	}
	if got, err := m.Resolve(t.Context(), ""); err != nil || got != "scripted" {
		t.Errorf("the default: %q, %v", got, err)
	}
	if api := m.API(); api != s.API {
		t.Errorf("API %q, want %q", api, s.API)
	}
}
