package exchange_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/exchange"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

// The parts of an answer of each API: its text, what completes it, and a usage behind it.
var answers = map[string]struct{ text, complete, usage, whole string }{
	exchange.APIChat: {
		`data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}` + "\n\n",
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n",
		`data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}` + "\n\n",
		`{"choices":[{"index":0,"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`,
	},
	exchange.APIMessages: {
		`data: {"type":"message_start","message":{"content":[],"usage":{"input_tokens":7}}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}` + "\n\n",
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n",
		`data: {"type":"message_delta","delta":{},"usage":{"output_tokens":1}}` + "\n\n",
		`{"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":1}}`,
	},
	exchange.APIResponses: {
		`data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}` + "\n\n" +
			`data: {"type":"response.output_text.delta","output_index":0,"delta":"hello"}` + "\n\n",
		`data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":1}}}` + "\n\n",
		"",
		`{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":7,"output_tokens":1}}`,
	},
}

// client is a client of an API.
func client(t *testing.T, cfg exchange.Config) *exchange.Client {
	t.Helper()
	if cfg.API == exchange.APIMessages {
		c, err := anthropic.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c.Client
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Client
}

// ask sends a request to a server.
func ask(t *testing.T, api string, h http.HandlerFunc) (llmtest.Result, error) {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	return llmtest.Collect(client(t, exchange.Config{BaseURL: srv.URL, API: api}).Stream(t.Context(), []byte(`{}`)))
}

// sending writes a response with these headers.
func sending(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hello checks that an answer is the example.
func hello(t *testing.T, what string, r llmtest.Result, err error) {
	t.Helper()
	if err != nil || r.Text() != "hello" || r.End.Usage.Input != 7 {
		t.Errorf("%s: %q, %+v, %v", what, r.Text(), r.End, err)
	}
}

// A complete answer ends the wait soon, although the endpoint keeps the connection open and
// whatever it sends; its usage still counts.
func TestCompleteAnswerEnds(t *testing.T) {
	for api, a := range answers {
		for what, beat := range map[string]string{
			"silence": "", "comments": ": wait\n\n", "pings": "event: ping\ndata: {\"type\":\"ping\"}\n\n", "empty chunks": "data: {}\n\n", "white space": "\n",
			"chunks that add nothing": `data: {"id":"x","object":"chat.completion.chunk","choices":[]}` + "\n\n",
		} {
			t.Run(api+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					r, err := llmtest.Collect(client(t, exchange.Config{BaseURL: "http://h.example", API: api, Dial: speaks(t, beat, a.text+a.complete, a.usage)}).Stream(t.Context(), []byte(`{}`)))
					hello(t, what, r, err)
					if took := time.Since(start); took > 5*time.Second {
						t.Errorf("the answer took %s", took)
					}
				})
			})
		}
		t.Run(api+", no usage", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r, err := llmtest.Collect(client(t, exchange.Config{BaseURL: "http://h.example", API: api, Dial: speaks(t, ": wait\n\n", a.text+a.complete)}).Stream(t.Context(), []byte(`{}`)))
				if took := time.Since(start); err != nil || r.Text() != "hello" || took > 10*time.Second {
					t.Errorf("%q after %s, %v", r.Text(), took, err)
				}
			})
		})
		// Before the end, the same are signs of life.
		t.Run(api+", comments before the end", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := append([]string{a.text}, make([]string, 300)...)
				r, err := llmtest.Collect(client(t, exchange.Config{BaseURL: "http://h.example", API: api, Dial: speaks(t, ": wait\n\n", append(parts, a.complete+a.usage)...)}).Stream(t.Context(), []byte(`{}`)))
				hello(t, "comments", r, err)
			})
		})
	}
}

// speaks makes connections to an endpoint that sends one part of an answer every two seconds,
// and then a beat, until the client closes the connection.
func speaks(t *testing.T, beat string, parts ...string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer there.Close()
			if _, err := http.ReadRequest(bufio.NewReader(there)); err != nil {
				t.Error(err)
			}
			_, err := io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			for i := 0; err == nil && i < 1000; i++ {
				part := beat
				if i < len(parts) {
					part = cmp.Or(parts[i], beat)
				}
				_, err = io.WriteString(there, part)
				time.Sleep(2 * time.Second)
				if part == "" {
					_, err = there.Read(make([]byte, 1))
				}
			}
		}()
		t.Cleanup(func() { _ = here.Close(); <-done })
		return here, nil
	}
}

// What keeps a connection alive does not belong to an answer, in any form and at any place.
func TestHeartbeats(t *testing.T) {
	beats := []string{
		": OPENROUTER PROCESSING", "data: : OPENROUTER PROCESSING", "data: OPENROUTER PROCESSING", "data: ping", `data: "ping"`, "data: {}", "data: null", "data:",
		"data", "data: true", "data: 0", "data: []", `data: ""`, "event: ping\ndata: {}", "event: keepalive\ndata: keepalive", "event: heartbeat\ndata: {\"time\":1}",
		"event: ping", "id: 1", "retry: 3000", `data: {"type":"ping"}`, `data: {"type": "keep-alive", "message": "still here"}`, "data: {\ndata:   \"type\": \"ping\"\ndata: }",
		`data: {"object":"ping","code":0,"message":"ok"}`, `data: {"type":"status","message":"Searching"}`, `data: {"status":"processing","message":"wait"}`, "ping", "...",
		`data: {"code":200,"msg":"success"}`, `data: {"base_resp":{"status_code":0,"status_msg":"success"}}`,
	}
	for api, a := range answers {
		for _, beat := range beats {
			in := strings.ReplaceAll("\n\n"+a.text+a.complete+a.usage, "\n\n", "\n\n"+beat+"\n\n")
			r, err := llmtest.Collect(client(t, exchange.Config{API: api}).Decode(t.Context(), "text/event-stream", strings.NewReader(in)))
			hello(t, api+", "+beat, r, err)
		}
	}
}

// An error of any shape ends an answer with its class and its words, within a stream, in place of
// an answer, and with a status of its own.
func TestErrorShapesOnTheWire(t *testing.T) {
	for api, a := range answers {
		c := client(t, exchange.Config{API: api})
		for name, tc := range shapes {
			for how, body := range map[string]string{
				"a message": "data: " + tc.body + "\n\ndata: [DONE]\n\n", "an event": "event: error\ndata: " + tc.body + "\n\n", "a field": "error: " + tc.body + "\n\n",
				"in the middle": a.text + "data: " + tc.body + "\n\n", "a line": a.text + tc.body + "\n", "JSON": tc.body, "JSON and more": tc.body + "\n\ndata: [DONE]\n\n",
			} {
				_, err := llmtest.Collect(c.Decode(t.Context(), "text/event-stream", strings.NewReader(body)))
				if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != tc.class || !strings.Contains(e.Said, tc.says) {
					t.Errorf("%s, %s as %s: class %q, %v", api, name, how, llm.ClassOf(err), err)
				}
			}
		}
	}
	for name, tc := range shapes {
		r, err := ask(t, exchange.APIChat, sending(http.StatusTooManyRequests, tc.body))
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != llm.ClassRateLimit || !strings.Contains(e.Said, tc.says) || r.Whole {
			t.Errorf("%s with a status: %v", name, err)
		}
	}
}

// What fails behind a complete answer does not matter.
func TestErrorBehindAnAnswer(t *testing.T) {
	for api, a := range answers {
		for _, behind := range []string{"event: error\ndata: {\"message\":\"billing failed\"}\n\n", `data: {"error":{"message":"too late"}}` + "\n\n", "data: {broken\n\n", "Internal Server Error\n"} {
			r, err := llmtest.Collect(client(t, exchange.Config{API: api}).Decode(t.Context(), "text/event-stream", strings.NewReader(a.text+a.usage+a.complete+behind)))
			hello(t, api+", "+behind, r, err)
		}
	}
}

// Text and pages in place of an answer, or behind its beginning, are the endpoint's words.
func TestTextInPlaceOfAnAnswer(t *testing.T) {
	const page = "<html><head><title>Sign in</title></head><body>Please sign in.</body></html>"
	for api, a := range answers {
		for name, tc := range map[string]struct {
			kind, body string
			class      llm.Class
			says       string
		}{
			"a page":                  {"text/event-stream", page, llm.ClassProtocol, "Please sign in."},
			"a page without a type":   {"", "\n" + page, llm.ClassProtocol, "Please sign in."},
			"text":                    {"text/plain", "welcome", llm.ClassProtocol, "welcome"},
			"text of a gateway":       {"text/plain", "upstream connect error or disconnect", llm.ClassOverloaded, "upstream connect error"},
			"text as a stream":        {"text/event-stream", "no such thing", llm.ClassCut, "no such thing"},
			"a message of text":       {"text/event-stream", "data: Rate limit reached\n\n", llm.ClassRateLimit, "Rate limit reached"},
			"a message without end":   {"text/event-stream", "data: Rate limit reached", llm.ClassRateLimit, "Rate limit reached"},
			"text in the middle":      {"text/event-stream", a.text + "Internal Server Error", llm.ClassOverloaded, "Internal Server Error"},
			"a page in the middle":    {"text/event-stream", a.text + page, llm.ClassCut, "Please sign in."},
			"marked text":             {"text/event-stream", a.text + "data: [ERROR] the model crashed\n\n", llm.ClassCut, "the model crashed"},
			"an event of an error":    {"text/event-stream", "event: error\ndata: the model crashed\n\n", llm.ClassOverloaded, "the model crashed"},
			"words before the answer": {"text/event-stream", "data: Rate limit reached, waiting\n\n" + a.text, llm.ClassCut, "before it was whole"},
			"nothing":                 {"application/json", "", llm.ClassCut, "before it was whole"},
		} {
			_, err := llmtest.Collect(client(t, exchange.Config{API: api}).Decode(t.Context(), tc.kind, strings.NewReader(tc.body)))
			if llm.ClassOf(err) != tc.class || !strings.Contains(fmt.Sprint(err), tc.says) {
				t.Errorf("%s, %s: class %q, %v", api, name, llm.ClassOf(err), err)
			}
		}
	}
}

// The bytes of an answer say what it is, whatever its content type says.
func TestContentTypesAreNotBelieved(t *testing.T) {
	for api, a := range answers {
		stream := a.text + a.complete + a.usage
		lines := strings.ReplaceAll(strings.ReplaceAll(stream, "data: ", ""), "\n\n", "\n")
		for _, kind := range []string{"", "text/event-stream", "application/json", "application/json; charset=utf-8", "text/html", "text/plain; charset=iso-8859-1", "application/octet-stream", ";"} {
			for what, body := range map[string]string{
				"events": stream, "events and DONE": stream + "data: [DONE]\n\n", "events behind a comment": ": wait\n\n" + stream, "marked events": "\xef\xbb\xbf" + stream,
				"JSON": a.whole, "spaced JSON": "\n\n  " + a.whole + "\n", "marked JSON": "\xef\xbb\xbf" + a.whole, "JSON and DONE": a.whole + "\n\ndata: [DONE]\n\n",
				"JSON behind a comment": ": wait\n\n" + a.whole, "lines of JSON": lines, "lines of JSON and DONE": lines + "[DONE]\n",
			} {
				r, err := llmtest.Collect(client(t, exchange.Config{API: api}).Decode(t.Context(), kind, strings.NewReader(body)))
				hello(t, fmt.Sprintf("%s, %s as %q", api, what, kind), r, err)
			}
		}
		if _, err := llmtest.Collect(client(t, exchange.Config{API: api}).Decode(t.Context(), "application/json", strings.NewReader(lines[:len(lines)/2]))); llm.ClassOf(err) != llm.ClassCut {
			t.Errorf("%s, half of the lines: %v", api, err)
		}
	}
}

// compressed compresses a text.
func compressed(t *testing.T, text string, with func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := with(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func deflated(w io.Writer) io.WriteCloser {
	f, err := flate.NewWriter(w, flate.DefaultCompression)
	if err != nil {
		panic(err)
	}
	return f
}

// A compressed answer is decompressed, though podd asks for none, and plain bytes stay plain:
// with the right header, a wrong one and without.
func TestCodings(t *testing.T) {
	const refusal = `{"error":{"message":"the prompt is too long: 9 tokens"}}`
	for api, a := range answers {
		for what, with := range map[string]func(io.Writer) io.WriteCloser{
			"plain": nil, "gzip": zipped, "zlib": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, "deflate": deflated,
		} {
			for _, header := range []string{"", "gzip", "deflate", "br", "identity", "gzip, deflate"} {
				if what == "deflate" && !strings.Contains(header, "deflate") {
					continue // Nothing says what it is.
				}
				for _, body := range []string{a.text + a.complete + a.usage, a.whole, refusal} {
					plain := body
					if with != nil {
						body = compressed(t, body, with)
					}
					if plain == refusal {
						_, err := ask(t, api, sending(http.StatusBadRequest, body, "Content-Encoding", header))
						if llm.ClassOf(err) != llm.ClassContext || !strings.Contains(err.Error(), "the prompt is too long") {
							t.Errorf("%s, a refusal as %s with %q: %v", api, what, header, err)
						}
						continue
					}
					r, err := ask(t, api, sending(http.StatusOK, body, "Content-Encoding", header))
					hello(t, fmt.Sprintf("%s, %s with %q", api, what, header), r, err)
				}
			}
		}
	}
	twice := compressed(t, compressed(t, answers[exchange.APIChat].whole, zipped), zipped)
	r, err := ask(t, exchange.APIChat, sending(http.StatusOK, twice))
	hello(t, "twice", r, err)
	for coding, body := range map[string]string{"br": "\x8b\x05\x80hello\x03", "zstd": "\x28\xb5\x2f\xfd\x04\x00"} {
		if _, err := ask(t, exchange.APIChat, sending(http.StatusOK, body, "Content-Encoding", coding)); llm.ClassOf(err) != llm.ClassProtocol || !strings.Contains(err.Error(), "compressed the answer as "+coding) {
			t.Errorf("%s: %v", coding, err)
		}
		if _, err := ask(t, exchange.APIChat, sending(http.StatusServiceUnavailable, body, "Content-Encoding", coding)); llm.ClassOf(err) != llm.ClassOverloaded {
			t.Errorf("a refusal as %s: %v", coding, err)
		}
	}
}

// Text of a compressed stream arrives as the endpoint flushes it.
func TestCompressedStreamFlows(t *testing.T) {
	a, got := answers[exchange.APIChat], make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, a.text)
		_ = z.Flush()
		_ = http.NewResponseController(w).Flush()
		<-got
		_, _ = io.WriteString(z, a.complete+a.usage)
		_ = z.Close()
	}))
	defer srv.Close()
	ended := false
	for ev, err := range client(t, exchange.Config{BaseURL: srv.URL, API: exchange.APIChat}).Stream(t.Context(), []byte(`{}`)) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.(llm.BlockDelta); ok {
			close(got)
		}
		_, ended = ev.(llm.End)
	}
	if !ended {
		t.Error("the answer did not end")
	}
}

// A little that decompresses to very much is an error, not memory.
func TestDecompressionIsBounded(t *testing.T) {
	for what, line := range map[string]string{"one line": "x", "many lines": ":" + strings.Repeat("x", 10_000) + "\n"} {
		part := compressed(t, strings.Repeat(line, 16<<20/len(line)), zipped)
		bomb := func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(w, part)
			}
		}
		if _, err := ask(t, exchange.APIChat, bomb); llm.ClassOf(err) != llm.ClassProtocol || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The streams of the adapters read the same with a heartbeat before each message.
func TestStreamsWithHeartbeats(t *testing.T) {
	paths, err := filepath.Glob("../*/testdata/streams/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		api, _, _ := strings.Cut(filepath.Base(path), "-")
		read := func(in string) string {
			r, err := llmtest.Collect(client(t, exchange.Config{API: api}).Decode(t.Context(), "text/event-stream", strings.NewReader(in)))
			return fmt.Sprintf("%+v %v", r, err)
		}
		want := read(string(data))
		for _, beat := range []string{"data: : wait\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n", "data: null\n\n"} {
			if got := read(beat + strings.ReplaceAll(string(data), "\n\n", "\n\n"+beat)); got != want {
				t.Errorf("%s with %q: %s, want %s", path, beat, got, want)
			}
		}
	}
}
