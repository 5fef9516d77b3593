package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podd/internal/extend/mcp"
	"podd/pkg/tool"
)

// webServer is a server over HTTP with a session.
type webServer struct {
	// call answers calls, get what is not a message; nil is the usual answer.
	call func(http.ResponseWriter, *http.Request, asked)
	get  func(http.ResponseWriter, *http.Request)
	// lists is called before the tools are listed.
	lists func(asked)
	// greet answers initialize.
	greet func(http.ResponseWriter, asked) bool

	mu sync.Mutex
	// count counts requests by method, gets those for streams.
	count map[string]int
	gets  atomic.Int32
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.gets.Add(1)
		if s.get == nil || r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		s.get(w, r)
		return
	}
	var a asked
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &a) != nil || a.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	a.n = s.counted(a.Method)
	if a.Method == "" { // An answer.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", asJSON)
	switch {
	case a.Method == "initialize":
		if s.greet != nil && s.greet(w, a) {
			return
		}
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", a.n))
	case a.Method == "tools/call" && s.call != nil:
		s.call(w, r, a)
		return
	case a.Method == "tools/list" && s.lists != nil:
		s.lists(a)
	}
	_, _ = io.WriteString(w, a.with(""))
}

// counted counts a request, and returns how many there were.
func (s *webServer) counted(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[method]++
	return s.count[method] - 1
}

// started is how often podd has begun a session.
func (s *webServer) started() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count["initialize"]
}

// serveWeb is a bench with that server.
func serveWeb(t *testing.T, s *webServer) *bench {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	b := newBench(t, "good", func(c *mcp.Config) { c.Backoff = func(int) time.Duration { return time.Millisecond } })
	b.server = mcp.Server{Name: "test", URL: server.URL, StartTimeout: time.Minute, Timeout: time.Minute, Origin: "config.toml:1"}
	return b
}

func status(code int, body string) func(http.ResponseWriter, *http.Request, asked) {
	return func(w http.ResponseWriter, _ *http.Request, _ asked) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// sends answers with a body of this kind, in which ANSWER is the answer.
func sends(kind, body string) func(http.ResponseWriter, *http.Request, asked) {
	return func(w http.ResponseWriter, _ *http.Request, a asked) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "ANSWER", a.with("")))
	}
}

const (
	asJSON   = "application/json"
	asEvents = "text/event-stream"
)

// What a server says in answer to a call reaches the model, in any form, and costs the session
// of no other call.
func TestAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call func(http.ResponseWriter, *http.Request, asked)
		want string
		// begun says that the call may have taken effect; alert is in the alert.
		begun bool
		alert string
	}{
		"json":                {call: sends(asJSON, "ANSWER")},
		"events":              {call: sends(asEvents, "event: message\ndata: ANSWER\n\n")},
		"json as events":      {call: sends(asEvents, "\n ANSWER\n")},
		"events as json":      {call: sends(asJSON, ": comment\ndata: ANSWER\n\n")},
		"events as nothing":   {call: sends("text/plain", "data: ANSWER\n\n")},
		"events with returns": {call: sends(asEvents, "id: 1\r\ndata: ANSWER\r\n\r\n")},
		"events without end":  {call: sends(asEvents, "data:ANSWER")},
		"events with a name":  {call: sends(asEvents, "event: result\ndata: ANSWER\n\n")},
		"events with logs":    {call: sends(asEvents, "data: ready\n\ndata: {\"level\":\"info\"}\n\ndata: ping\n\ndata: ANSWER\n\n")},
		"a batch":             {call: sends(asJSON, "[ANSWER]")},
		"an id as a string": {call: func(w http.ResponseWriter, _ *http.Request, a asked) {
			a.ID = json.RawMessage(`"` + string(a.ID) + `"`)
			_, _ = io.WriteString(w, a.with(""))
		}},
		"an error without id": {call: sends(asJSON, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no seat"}}`), want: "refused the call: no seat"},
		"nothing":             {call: status(202, ""), want: "ended its answer before the result", begun: true},
		"no answer":           {call: sends(asEvents, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"), want: "ended its answer before the result", begun: true},
		"too much":            {call: sends(asJSON, `{"x":"`+strings.Repeat("x", 9<<20)), want: "larger than 8 MiB", begun: true},
		"too much at once":    {call: sends(asEvents, "data: "+strings.Repeat("x", 9<<20)), want: "larger than 8 MiB", begun: true},

		"403 with JSON":   {call: status(403, `{"error":{"code":7,"message":"no seat"}}`), want: "answered with HTTP status 403 Forbidden: no seat"},
		"400 with words":  {call: status(400, "no\nseat\n"), want: "answered with HTTP status 400 Bad Request: no seat"},
		"400 with a page": {call: status(400, "<html>no seat</html>"), want: "answered with HTTP status 400 Bad Request"},
		"404 with words":  {call: status(410, `{"message":"no seat"}`), want: "answered with HTTP status 410 Gone: no seat"},
		"422 with detail": {call: status(422, `{"detail":[{"msg":"no seat"}]}`), want: `answered with HTTP status 422 Unprocessable Entity: [{"msg":"no seat"}]`},
		"429 of sessions": {call: status(429, "too many sessions"), want: "answered with HTTP status 429 Too Many Requests: too many sessions"},
		"429":             {call: status(429, `{"error":"rate_limited","message":"no seat"}`), want: "answered with HTTP status 429 Too Many Requests: rate_limited"},
		"400 with an error": {call: func(w http.ResponseWriter, _ *http.Request, a asked) {
			status(400, a.refuse(`{"code":-32602,"message":"no seat"}`))(w, nil, a)
		}, want: "refused the call: no seat"},
		"401": {call: status(401, `{"error_description":"no seat"}`), want: "needs you to sign in", alert: "needs you to sign in"},
		"500": {call: status(500, "no seat"), want: "answered with HTTP status 500 Internal Server Error: no seat", begun: true, alert: "500 Internal Server Error: no seat"},
		"503": {call: status(503, "no seat"), want: "answered with HTTP status 503 Service Unavailable: no seat", begun: true, alert: "503 Service Unavailable: no seat"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &webServer{call: c.call}
			b := serveWeb(t, s)
			out, err := b.tool("hello").Run(t.Context(), &tool.Invocation{Arguments: "{}"})
			got := text(out)
			if err != nil {
				got = err.Error()
			}
			if want := c.want; !strings.Contains(got, want) || want == "" && got != "hello-0" {
				t.Errorf("got %q, want %q", got, want)
			}
			if strings.Contains(got, "may have taken effect") != c.begun {
				t.Errorf("may have taken effect, want %v: %s", c.begun, got)
			}
			if c.alert == "" {
				s.call = nil
				if out := b.call("hello", "{}"); text(out) != "hello-1" || s.started() != 1 {
					t.Errorf("the next call: %q in session %d", text(out), s.started())
				}
			}
			b.Close()
			if alerts := b.told(); c.alert == "" && len(alerts) > 0 || c.alert != "" && (len(alerts) != 1 || !strings.Contains(alerts[0], c.alert)) {
				t.Errorf("alerts: %q", alerts)
			}
		})
	}
}

// A server that has forgotten the session did not run the call, so it runs in a new one.
func TestForgottenSession(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(asked) (int, string){
		"404":               func(asked) (int, string) { return 404, "" },
		"404 with an error": func(a asked) (int, string) { return 404, a.refuse(`{"code":-32001,"message":"Session not found"}`) },
		"400 with words": func(asked) (int, string) {
			return 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &webServer{}
			forgotten := "s0"
			s.call = func(w http.ResponseWriter, r *http.Request, a asked) {
				if id := r.Header.Get("Mcp-Session-Id"); a.n > 0 && (forgotten == id || forgotten == "all") {
					code, body := forget(a)
					status(code, body)(w, r, a)
					return
				}
				_, _ = io.WriteString(w, a.with(""))
			}
			b := serveWeb(t, s)
			for _, want := range []string{"hello-0", "hello-2", "hello-3"} {
				if out := b.call("hello", "{}"); text(out) != want {
					t.Errorf("%q, want %q", text(out), want)
				}
			}
			if s.started() != 2 {
				t.Errorf("%d sessions", s.started())
			}
			forgotten = "all"
			if _, err := b.tool("hello").Run(t.Context(), &tool.Invocation{Arguments: "{}"}); err == nil || strings.Contains(err.Error(), "may have taken effect") || s.started() != 3 {
				t.Errorf("%v after %d sessions", err, s.started())
			}
			b.Close()
			if alerts := b.told(); len(alerts) > 0 {
				t.Errorf("alerts: %q", alerts)
			}
		})
	}
}

// What becomes of one call is nothing to another.
func TestCallsOverHTTPAreApart(t *testing.T) {
	t.Parallel()
	for _, code := range []int{404, 503} {
		waiting, goOn := make(chan struct{}), make(chan struct{})
		s := &webServer{}
		s.call = func(w http.ResponseWriter, r *http.Request, a asked) {
			switch a.n {
			case 0:
				close(waiting)
				<-goOn
			case 1:
				status(code, "no")(w, r, a)
				return
			}
			_, _ = io.WriteString(w, a.with(""))
		}
		b := serveWeb(t, s)
		hello := b.tool("hello")
		done := make(chan string)
		go func() {
			out, err := hello.Run(t.Context(), &tool.Invocation{Arguments: "{}"})
			done <- fmt.Sprint(text(out), err)
		}()
		<-waiting
		_, _ = hello.Run(t.Context(), &tool.Invocation{Arguments: "{}"})
		close(goOn)
		if got := <-done; got != "hello-0<nil>" {
			t.Errorf("beside status %d: %s", code, got)
		}
		b.Close()
	}
}

// The stream of what a server says of its own accord is optional, so nothing depends on it.
func TestOptionalStream(t *testing.T) {
	t.Parallel()
	events := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", asEvents)
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	for name, get := range map[string]func(http.ResponseWriter, *http.Request){
		"closes": func(w http.ResponseWriter, _ *http.Request) { events(w, "") },
		"pings": func(w http.ResponseWriter, _ *http.Request) {
			events(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n")
		},
		"malformed": func(w http.ResponseWriter, _ *http.Request) { events(w, "nonsense\n\ndata: {\n\ndata: [1]\n\n") },
		"hangs":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"stays":     func(w http.ResponseWriter, r *http.Request) { events(w, ": on\n\n"); <-r.Context().Done() },
		"breaks": func(w http.ResponseWriter, _ *http.Request) {
			events(w, "data: {\"jsonrpc\"")
			panic(http.ErrAbortHandler)
		},
		"400": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) },
		"401": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"404": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"501": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(501) },
		"200": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again := name == "closes" || name == "pings" || name == "malformed" || name == "breaks" || name == "500"
			s := &webServer{get: get}
			s.call = func(w http.ResponseWriter, _ *http.Request, a asked) {
				if again {
					eventually(t, "the next streams", func() bool { return s.gets.Load() > 10 })
				}
				_, _ = io.WriteString(w, a.with(""))
			}
			b := serveWeb(t, s)
			for _, want := range []string{"hello-0", "hello-1"} {
				if out := b.call("hello", "{}"); text(out) != want {
					t.Errorf("%q", text(out))
				}
			}
			if s.started() != 1 {
				t.Errorf("%d sessions", s.started())
			}
			b.Close()
			if alerts := b.told(); len(alerts) > 0 {
				t.Errorf("alerts: %q", alerts)
			}
		})
	}
}

// The stream says that lists have changed.
func TestListsChangeOverHTTP(t *testing.T) {
	t.Parallel()
	change := make(chan struct{})
	s := &webServer{get: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", asEvents)
		w.(http.Flusher).Flush()
		select {
		case <-change:
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		case <-r.Context().Done():
		}
	}}
	b := serveWeb(t, s)
	b.tools()
	change <- struct{}{}
	eventually(t, "the next list", func() bool {
		b.tools()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.count["tools/list"] == 2
	})
}

// Lists that change while podd reads them are read again. podd has handled the change when it answers the ping behind it.
func TestListsChangeWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	change := make(chan struct{})
	s := &webServer{get: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", asEvents)
		w.(http.Flusher).Flush()
		for {
			select {
			case <-change:
				_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n")
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}}
	counts := func(method string) int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.count[method]
	}
	s.lists = func(a asked) {
		if a.n < 2 {
			change <- struct{}{}
			eventually(t, "the answer to the ping", func() bool { return counts("") > a.n })
		}
	}
	b := serveWeb(t, s)
	for range 4 {
		b.tools()
	}
	if n := counts("tools/list"); n != 3 {
		t.Errorf("they were read %d times", n)
	}
}

// An answer that breaks off goes on where its server offers that.
func TestStreamGoesOn(t *testing.T) {
	t.Parallel()
	var answer atomic.Value
	s := &webServer{call: func(w http.ResponseWriter, r *http.Request, a asked) {
		answer.Store(a.with(""))
		sends(asEvents, "id: 7\nretry: 1\ndata:\n\n")(w, r, a)
	}}
	s.get = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", asEvents)
		if r.Header.Get("Last-Event-ID") == "7" {
			_, _ = fmt.Fprintf(w, "id: 8\ndata: %s\n\n", answer.Load())
			return
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
	b := serveWeb(t, s)
	if out := b.call("hello", "{}"); text(out) != "hello-0" {
		t.Errorf("%q", text(out))
	}
}

// A server that refuses the version of the protocol is asked again with one that it names.
func TestVersionsOverHTTP(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(http.ResponseWriter, asked){
		"data": func(w http.ResponseWriter, a asked) {
			_, _ = io.WriteString(w, a.refuse(`{"code":-32602,"message":"no","data":{"supported":["2025-03-26"]}}`))
		},
		"status": func(w http.ResponseWriter, a asked) {
			status(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-03-26, 2024-11-05)"}}`)(w, nil, a)
		},
		"words": func(w http.ResponseWriter, a asked) { status(400, "speak 2025-03-26")(w, nil, a) },
	} {
		t.Run(name, func(t *testing.T) {
			s := &webServer{greet: func(w http.ResponseWriter, a asked) bool {
				if a.Params.ProtocolVersion == "2025-03-26" {
					w.Header().Set("Mcp-Session-Id", "s")
					_, _ = io.WriteString(w, a.with(strings.Replace(rawGreeting, "2025-11-25", "2025-03-26", 1)))
					return true
				}
				refuse(w, a)
				return true
			}}
			s.call = func(w http.ResponseWriter, r *http.Request, a asked) {
				if r.Header.Get("Mcp-Protocol-Version") != "2025-03-26" || r.Header.Get("Mcp-Session-Id") != "s" {
					status(400, "unexpected")(w, r, a)
					return
				}
				_, _ = io.WriteString(w, a.with(""))
			}
			if out := serveWeb(t, s).call("hello", "{}"); text(out) != "hello-0" {
				t.Errorf("%q", text(out))
			}
		})
	}
}
