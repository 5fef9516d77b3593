package openai_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

const (
	chunk = `data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}` + "\n\n"
	final = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
)

// TestHostileEndpoints has what endpoints do besides sending errors.
func TestHostileEndpoints(t *testing.T) {
	stream := func(text string) http.HandlerFunc { return sse(text) }
	typed := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		text    string
		class   llm.Class
		says    string
	}{
		"a web page":                          {typed("text/html; charset=utf-8", "<html>"), "", llm.ClassProtocol, "answered text/html at /chat/completions; set base_url"},
		"plain text":                          {typed("text/plain", "welcome"), "", llm.ClassProtocol, "text/plain"},
		"a stream that says plain text":       {typed("text/plain", chunk+final), "hello", "", ""},
		"an answer that does not stream":      {typed("application/json", `{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello","tool_calls":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), "hello", "", ""},
		"JSON without a finish reason":        {typed("application/json", `{"choices":[{"index":0,"message":{"role":"assistant","content":"hello","function_call":{"name":"","arguments":""},"tool_calls":null},"finish_reason":""}]}`), "hello", "", ""},
		"JSON that says nothing at all":       {typed("application/json", `{"choices":[{"index":0,"message":{"role":"assistant"},"finish_reason":""}]}`), "", llm.ClassCut, ""},
		"a usage and DONE after nothing":      {stream(`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}` + "\n\ndata: [DONE]\n\n"), "", llm.ClassCut, ""},
		"calls without end in a message":      {stream(`data: {"choices":[{"index":0,"finish_reason":"stop","message":{"tool_calls":[` + strings.Repeat(`{"function":{"name":"a","arguments":"{}"}},`, 1100) + `null]}}]}` + "\n\n"), "", llm.ClassProtocol, "more than 1024"},
		"an error with status 200":            {typed("application/json", `{"error":{"message":"Rate limit exceeded","code":429}}`), "", llm.ClassRateLimit, "Rate limit exceeded"},
		"JSON that is no answer":              {typed("application/json", `{"status":"ok"}`), "", llm.ClassCut, ""},
		"JSON that breaks off":                {typed("application/json", `{"choices":[`), "", llm.ClassCut, "before it was whole"},
		"broken JSON":                         {typed("application/json", `{"choices":]`), "", llm.ClassCut, "not JSON"},
		"a message that is not JSON":          {stream(chunk + "data: <html>\n\n"), "hello", llm.ClassCut, `it says "<html>"`},
		"a message of broken JSON":            {stream(chunk + `data: {"choices":]` + "\n\n"), "hello", llm.ClassCut, "not JSON"},
		"a line without end":                  {stream(chunk + "data: " + strings.Repeat("x", exchange.MaxLine+1)), "hello", llm.ClassProtocol, "too long"},
		"an empty body":                       {stream(""), "", llm.ClassCut, ""},
		"comments alone":                      {stream(": hi\n\n: hi\n\n"), "", llm.ClassCut, ""},
		"no DONE":                             {stream(chunk + final), "hello", "", ""},
		"a reset after the last word":         {reset(chunk + final), "hello", "", ""},
		"a reset after a call without a name": {reset(`data: {"choices":[{"index":0,"delta":{"content":"hello","tool_calls":[{"id":"c","function":{"arguments":"{}"}}]}}]}` + "\n\n" + final), "hello", "", ""},
		"a reset in the middle":               {reset(chunk), "hello", llm.ClassCut, "broke the connection"},
		"a reset before the first word":       {reset(": wait\n\n"), "", llm.ClassCut, "before it answered"},
		"a reset before the header":           {drop, "", llm.ClassCut, "before it answered"},
		"a call that Gemini refused":          {typed("application/json", `{"choices":[{"index":0,"message":{"role":"assistant"},"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL"}]}`), "", llm.ClassMalformedCall, "MALFORMED_FUNCTION_CALL"},
		"the same in a stream":                {stream(chunk + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"MALFORMED_FUNCTION_CALL"}]}` + "\n\n"), "hello", llm.ClassMalformedCall, "refused the model's tool call"},
		"calls without end":                   {stream(strings.Repeat(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"a","arguments":"{}"}},{"function":{"name":"b","arguments":"{}"}}]}}]}`+"\n\n", 600)), "", llm.ClassProtocol, "more than 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, openai.Config{}, tc.handler)
			r, err := llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
			if r.Text() != tc.text || llm.ClassOf(err) != tc.class || (err == nil) != r.Whole {
				t.Fatalf("text %q, whole %v, class %q, error %v", r.Text(), r.Whole, llm.ClassOf(err), err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("message: %s", err)
			}
		})
	}
}

// reset sends part of a stream and then resets the connection.
func reset(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sse(text)(w, r)
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		conn, _, err := rc.Hijack()
		if err != nil {
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// drop resets the connection after the request has arrived.
func drop(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// TestStalls: silence ends a request, before the first byte and between two reads.
func TestStalls(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg   openai.Config
		sent  string
		class llm.Class
		says  string
	}{
		"before the header":      {openai.Config{FirstByteTimeout: 30 * time.Millisecond}, "", llm.ClassCut, "did not begin to answer in 30ms"},
		"before the first chunk": {openai.Config{FirstByteTimeout: time.Minute, IdleTimeout: 30 * time.Millisecond}, ": wait\n\n", llm.ClassCut, "30ms"},
		"after the first chunk":  {openai.Config{FirstByteTimeout: time.Minute, IdleTimeout: 30 * time.Millisecond}, chunk, llm.ClassCut, "sent nothing for 30ms"},
		"after the last word":    {openai.Config{FirstByteTimeout: time.Minute, IdleTimeout: 30 * time.Millisecond}, chunk + final, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serveInBubble(t, tc.cfg, func(w http.ResponseWriter, r *http.Request) {
					if tc.sent != "" {
						sse(tc.sent)(w, r)
						_ = http.NewResponseController(w).Flush()
					} else {
						_, _ = io.Copy(io.Discard, r.Body)
					}
					<-r.Context().Done()
				})
				r, err := llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
				if llm.ClassOf(err) != tc.class || (err == nil) != r.Whole {
					t.Fatalf("%+v, class %q, error %v", r, llm.ClassOf(err), err)
				}
				if err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Error(err)
				}
			})
		})
	}
}

// TestSlowConsumer: the timeouts do not include the consumer's time.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := time.Second
		c := serveInBubble(t, openai.Config{IdleTimeout: idle}, sse(strings.Repeat(chunk, 20_000)+final))
		events, text := 0, 0
		for ev, err := range c.Stream(t.Context(), []byte(`{}`)) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := ev.(llm.BlockDelta); ok {
				text += len(d.Text)
			}
			if events++; events == 10 {
				time.Sleep(idle + idle/4)
			}
		}
		if events < 10 || text != 20_000*len("hello") {
			t.Errorf("%d events, %d bytes of text", events, text)
		}
	})
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	plain, secret := httptest.NewServer(http.NotFoundHandler()), httptest.NewTLSServer(http.NotFoundHandler())
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer plain.Close()
	defer secret.Close()
	through := func(*http.Request) (*url.URL, error) { return url.Parse("http://" + addr) }
	for base, tc := range map[string]struct {
		says  string
		class llm.Class
		proxy func(*http.Request) (*url.URL, error)
	}{
		"http://" + addr + "/v1":                    {says: "nothing answers at http://" + addr},
		"http://no-such-host.invalid/v1":            {says: "check base_url"},
		"http://user:hunter2@" + addr + "":          {says: "user:xxxxx@"},
		"https://" + plain.Listener.Addr().String(): {says: "does not speak TLS; set base_url to an address that begins with http://", class: llm.ClassProtocol},
		secret.URL:                 {says: "is not valid here; add its authority to those of the system, or set base_url; it says"},
		"http://behind.invalid/v1": {says: "the proxy before http://behind.invalid/v1 cannot be reached; check HTTPS_PROXY", proxy: through},
	} {
		c, err := openai.New(openai.Config{BaseURL: base, Proxy: tc.proxy})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != cmp.Or(tc.class, llm.ClassNetwork) || !strings.Contains(e.Message, tc.says) || strings.Contains(e.Message, "hunter2") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// TestEndlessError: an error's body is bounded.
func TestEndlessError(t *testing.T) {
	var sent atomic.Int64
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil && sent.Load() < 1<<30 {
			n, err := io.WriteString(w, strings.Repeat("x", 64<<10))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	_, err := llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
	if llm.ClassOf(err) != llm.ClassOverloaded || sent.Load() > 64<<20 {
		t.Errorf("%v after %d bytes", err, sent.Load())
	}
}

// TestOneConnection: a conversation keeps its connection, however the server ends the
// stream.
func TestOneConnection(t *testing.T) {
	for name, text := range map[string]string{
		"with DONE": chunk + final + "data: [DONE]\n\n", "without": chunk + final, "with more": chunk + final + "data: [DONE]\n\n: bye\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int64
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sse(text)(w, r)
				// The end of the body arrives separately, after the last event.
				_ = http.NewResponseController(w).Flush()
			}))
			srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					conns.Add(1)
				}
			}
			srv.Start()
			defer srv.Close()
			c, err := openai.New(openai.Config{BaseURL: srv.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 51 {
				if _, err := llmtest.Collect(c.Stream(t.Context(), []byte(`{}`))); err != nil {
					t.Fatal(err)
				}
			}
			if n := conns.Load(); n != 1 {
				t.Errorf("%d connections for 51 requests", n)
			}
		})
	}
}

// TestEndIsNotHeldBack: the consumer gets the end although the server keeps the body open
// after it.
func TestEndIsNotHeldBack(t *testing.T) {
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
		sse(chunk+final+"data: [DONE]\n\n")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	r, err := llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
	if err != nil || !r.Whole {
		t.Error(fmt.Sprint(r), err)
	}
}
