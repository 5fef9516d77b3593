package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/scripted"
)

// Requests follow Config, whatever the environment contains.
func TestRequestAsSent(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-ant-of-the-environment", "ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
		"ANTHROPIC_PROFILE": "nobody", "ANTHROPIC_CUSTOM_HEADERS": "X-Evil: 1",
	} {
		t.Setenv(name, value)
	}
	for key, want := range map[string]string{"": "", "sk-ant-mine": "sk-ant-mine"} {
		var got *http.Request
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.WriteHeader(http.StatusTeapot)
		}))
		c := local(t, anthropic.Config{BaseURL: srv.URL + "/v1", APIKey: key, UserAgent: "podd/1", Headers: map[string]string{"X-Title": "podd"}})
		_, err := llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
		c.Close()
		srv.Close()
		if llm.ClassOf(err) != llm.ClassInvalid || got == nil {
			t.Fatalf("%v, request %v", err, got)
		}
		h := got.Header
		if got.Method != "POST" || got.URL.Path != "/v1/messages" || h.Get("X-Api-Key") != want || h.Get("Authorization") != "" ||
			h.Get("Anthropic-Version") != "2023-06-01" || h.Get("User-Agent") != "podd/1" || h.Get("X-Title") != "podd" || h.Get("X-Evil") != "" ||
			h.Get("Accept") != "text/event-stream" || h.Get("Traceparent") != "" {
			t.Errorf("%s %s %v", got.Method, got.URL, h)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := anthropic.New(anthropic.Config{API: "chat"}); err == nil || !strings.Contains(err.Error(), `it must be "messages"`) {
		t.Error(err)
	}
	if c := local(t, anthropic.Config{BaseURL: anthropic.DefaultBaseURL}); c.API() != anthropic.API {
		t.Error(c.API())
	}
}

// In 30 steps of a loop of calls the endpoint reads most of each request from its cache.
func TestCacheYield(t *testing.T) {
	steps := make([]scripted.Reply, 30)
	for i := range steps {
		steps[i] = scripted.Say(scripted.Reasoning("Next."), scripted.Call{Name: "read_file", Arguments: `{"path":"a"}`})
	}
	srv, err := scripted.Serve(scripted.Config{Handler: scripted.Answers(steps...)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	c := local(t, anthropic.Config{BaseURL: srv.URL()})
	defer c.Close()
	r := llm.Request{Setup: item.Setup{Model: "m", Instructions: strings.Repeat("Be brief. ", 200)}, Items: []item.Item{item.UserMessage{Text: "go"}}}
	encode := c.Encoder()
	var input, cached, before int64
	for range steps {
		body, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := llmtest.Collect(c.Stream(t.Context(), body...))
		if err != nil {
			t.Fatal(err)
		}
		// The first request fills the cache, and each reads what the one before sent.
		if before > 0 {
			input, cached = input+before, cached+a.End.Usage.CachedInput
		}
		before = a.End.Usage.Input
		r.Items = append(r.Items, a.Items...)
		r.Items = append(r.Items, item.ToolResult{CallID: a.Calls()[0].CallID, Output: item.Output{Summary: "read", Content: strings.Repeat("line\n", 50)}})
	}
	if yield := float64(cached) / float64(input); yield < 0.9 {
		t.Errorf("%d of %d tokens came from the cache: %.2f", cached, input, yield)
	}
}

// The list of models is asked for as a whole, with the key and the version of the API.
func TestOffers(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" || r.URL.String() != "/v1/models?limit=1000" || r.Header.Get("X-Api-Key") != "sk-ant-mine" || r.Header.Get("Anthropic-Version") == "" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		_, _ = w.Write([]byte(`{"data":[{"type":"model","id":"claude-opus-4-8","max_input_tokens":200000}],"has_more":false}`))
	}))
	defer srv.Close()
	c := local(t, anthropic.Config{BaseURL: srv.URL + "/v1", APIKey: "sk-ant-mine"})
	if offers, err := c.Offers(t.Context()); err != nil || len(offers) != 1 || offers[0].Window != 200_000 {
		t.Errorf("%+v, %v", offers, err)
	}
}
