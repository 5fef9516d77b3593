package dial_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/endpoints"
	"podd/internal/endpoints/dial"
	"podd/internal/guard/keys"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, before *dial.Set, list ...endpoints.Endpoint) *dial.Set {
	t.Helper()
	s, err := dial.Open(dial.Config{
		Default: list[0].Name, Endpoints: list, Learn: func(string, ...string) {}, Redact: func(text string) string { return text },
	}, before)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(nil) })
	return s
}

func plain(m llm.Model) llm.Model { return m }

// ask sends a request to an endpoint and returns its answer.
func ask(t *testing.T, s *dial.Set, name string) (string, error) {
	t.Helper()
	e, err := s.Router(plain).At(name)
	if err != nil {
		t.Fatal(err)
	}
	body, err := e.Body(llm.Request{Setup: item.Setup{Model: "m", Endpoint: name, Body: e.Adds}, Items: []item.Item{item.UserMessage{Text: "hi"}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := llmtest.Collect(e.Stream(t.Context(), body))
	return r.Text(), err
}

// A request has the query, the header, the key and the members of its endpoint, and goes
// through its proxy.
func TestRequestsAreTheEndpoints(t *testing.T) {
	type request struct{ url, key, team, body string }
	var mu sync.Mutex
	var came []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		buf := make([]byte, 1<<16)
		n, _ := r.Body.Read(buf)
		body.Write(buf[:n])
		mu.Lock()
		defer mu.Unlock()
		came = append(came, request{r.URL.String(), r.Header.Get("Api-Key"), r.Header.Get("X-Team"), body.String()})
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	s := open(t, nil, endpoints.Endpoint{
		Name: "azure", BaseURL: "http://resource.invalid/openai/deployments/d?api-version=v1&x=a%20b", API: "chat", Proxy: server.URL,
		Key: keys.Source{Value: "one", Setting: "K"}, KeyHeader: keys.APIKey, Headers: map[string]string{"X-Team": "blue"}, Body: `{"top_k":4}`,
	})
	_, err := ask(t, s, "azure")
	if err == nil || !strings.Contains(err.Error(), "endpoint azure at http://resource.invalid/openai/deployments/d (model m, 418)") || strings.Contains(err.Error(), "v1&") {
		t.Errorf("%v", err)
	}
	if len(came) != 1 {
		t.Fatalf("%+v", came)
	}
	if r := came[0]; r.url != "http://resource.invalid/openai/deployments/d/chat/completions?api-version=v1&x=a+b" || r.key != "one" || r.team != "blue" ||
		!strings.HasPrefix(r.body, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"top_k":4,"messages":[`) {
		t.Errorf("%+v", r)
	}
}

// Endpoints that stay the same keep their clients and connections.
func TestReopened(t *testing.T) {
	a := endpoints.Endpoint{Name: "a", BaseURL: "http://a.invalid/v1", Headers: map[string]string{"X": "y"}}
	b := endpoints.Endpoint{Name: "b", BaseURL: "http://b.invalid/v1", Key: keys.Source{Value: "old"}}
	first := open(t, nil, a, b)
	b.Key.Value = "new"
	a.Headers = map[string]string{"X": "y"}
	second := open(t, first, a, b)
	for name, same := range map[string]bool{"a": true, "b": false} {
		before, after := first.Router(plain).Endpoints[name], second.Router(plain).Endpoints[name]
		if (before.Model == after.Model) != same {
			t.Errorf("%s: the same client: %v", name, !same)
		}
	}
	if list := second.List(); len(list) != 2 || list[0].Name != "a" || list[0].API != "chat" {
		t.Errorf("%+v", list)
	}
}

// At most max_parallel requests run at once; one that waits can be cancelled.
func TestMaxParallel(t *testing.T) {
	begun, end := make(chan struct{}, 8), make(chan struct{})
	server, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply {
		begun <- struct{}{}
		return scripted.Say(scripted.Wait(end), scripted.Text("done"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := open(t, nil, endpoints.Endpoint{Name: "a", BaseURL: server.URL(), MaxParallel: 2})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if text, err := ask(t, s, "a"); text != "done" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
		<-begun
	}
	e, err := s.Router(plain).At("a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llmtest.Collect(e.Stream(ctx, []byte("{}"))); err == nil || len(begun) > 0 {
		t.Errorf("a third request: %v", err)
	}
	close(end)
	wg.Wait()
	if text, err := ask(t, s, "a"); text != "done" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
