package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// web is the connection to a server over HTTP. Each message is a request of its own, and what
// becomes of one is nothing to the others: a failure answers its call alone.
type web struct {
	*conversation
	client  *http.Client
	url     string
	headers http.Header
	// oauth signs requests; nil for a server whose key is configured.
	oauth auth.OAuthHandler
	// pause is how long to wait before a stream is asked for again.
	pause func(times int) time.Duration
	// ctx is that of all requests; cut ends it.
	ctx   context.Context
	cut   context.CancelFunc
	inbox chan jsonrpc.Message

	mu      sync.Mutex
	session string
	// denied is why no request gets a token any more.
	denied  error
	reading sync.WaitGroup
}

// failure is what became of a request that the server did not answer, as the rest of a sentence.
type failure struct {
	error
	// begun says that the server may have acted on it, broken that it does not work, and gone
	// that it has forgotten the session.
	begun, broken, gone bool
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.error }

var errNoAnswer = errors.New("ended its answer before the result")

// Read returns the next message.
func (w *web) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case message := <-w.inbox:
		return message, nil
	case <-w.ctx.Done():
		return nil, io.EOF
	}
}

// Write sends a message. A call gets its answer in any case. Nobody waits for what becomes of
// other messages.
func (w *web) Write(ctx context.Context, message jsonrpc.Message) error {
	if w.ctx.Err() != nil {
		return sdk.ErrConnectionClosed
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	w.says(message)
	resp, err := w.send(ctx, http.MethodPost, text, w.headersOf(ctx, message))
	r, _ := message.(*jsonrpc.Request)
	if r == nil || !r.IsCall() {
		if err == nil {
			_ = resp.Body.Close()
		}
		if r != nil && r.Method == "notifications/initialized" {
			w.begin(w.listen)
		}
		return nil
	}
	if err == nil {
		if r.Method == "initialize" && resp.StatusCode == http.StatusOK {
			w.enter(resp.Header.Get("Mcp-Session-Id"))
		}
		if !w.begin(func() { w.answers(ctx, resp, r.ID) }) {
			_ = resp.Body.Close()
		}
		return nil
	}
	w.fail(r.ID, err)
	return nil
}

// begin runs work in a goroutine, unless the connection has ended.
func (w *web) begin(work func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		return false
	}
	w.reading.Go(work)
	return true
}

// end ends all requests, and waits for the goroutines that read them.
func (w *web) end() {
	w.mu.Lock()
	w.cut()
	w.mu.Unlock()
	w.reading.Wait()
}

func (w *web) enter(session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session = session
}

// SessionID is the server's name for the session; empty if it has none.
func (w *web) SessionID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session
}

// Close ends the session and the connection.
func (w *web) Close() error {
	defer w.cut()
	if w.SessionID() != "" {
		if resp, err := w.send(w.ctx, http.MethodDelete, nil, nil); err == nil {
			_ = resp.Body.Close()
		}
	}
	return nil
}

// deliver hands on a message.
func (w *web) deliver(message jsonrpc.Message) {
	select {
	case w.inbox <- message:
	case <-w.ctx.Done():
	}
}

// fail answers a call that has no answer yet.
func (w *web) fail(id jsonrpc.ID, err error) {
	if w.answered(id) != nil {
		w.deliver(&jsonrpc.Response{ID: id, Error: err})
	}
}

// versionHeader has the version of the protocol.
const versionHeader = "Mcp-Protocol-Version"

// headersOf are the headers of a message that the protocol wants. The SDK knows them: a transport of its own is about to send the
// message, and gets no connection.
func (w *web) headersOf(ctx context.Context, message jsonrpc.Message) (h http.Header) {
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		h = r.Header
		return nil, errNoAnswer
	})}
	t := sdk.StreamableClientTransport{Endpoint: w.url, HTTPClient: client}
	if c, err := t.Connect(ctx); err == nil {
		_ = c.Write(ctx, message)
		_ = c.Close()
	}
	if version := h.Get(versionHeader); version != "" {
		w.agree(version)
	}
	return h
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// from are the headers of a request that goes on reading a stream after an event; empty means from its beginning.
func from(event string) http.Header {
	h := http.Header{"Accept": {"text/event-stream"}}
	if event != "" {
		h.Set("Last-Event-ID", event)
	}
	return h
}

// send sends a request.
func (w *web) send(ctx context.Context, method string, text []byte, headers http.Header) (*http.Response, error) {
	for again := true; ; again = false {
		resp, err := w.try(ctx, method, text, headers)
		if err != nil {
			return nil, err
		}
		refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
		if !refused || !again || w.oauth == nil || method != http.MethodPost {
			return resp, nil
		}
		if err := w.authorize(ctx, resp); err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
	}
}

// authorize gets a token for a request that was refused. If that fails, the connection is of no use, so podd does not ask again.
func (w *web) authorize(ctx context.Context, resp *http.Response) error {
	w.mu.Lock()
	err := w.denied
	w.mu.Unlock()
	if err != nil {
		return err
	}
	err = w.oauth.Authorize(ctx, resp.Request, resp)
	if _, ok := errors.AsType[*failure](err); ok || err == nil {
		return err
	}
	err = &failure{error: err, broken: true}
	if ctx.Err() == nil {
		w.mu.Lock()
		w.denied = err
		w.mu.Unlock()
	}
	return err
}

func (w *web) try(ctx context.Context, method string, text []byte, headers http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(w.ctx, cancel)
	over := func() { stop(); cancel() }
	r, err := http.NewRequestWithContext(ctx, method, w.url, bytes.NewReader(text))
	if err == nil {
		maps.Copy(r.Header, headers)
		err = w.sign(ctx, r)
	}
	if err != nil {
		over()
		return nil, &failure{error: err, broken: true}
	}
	if session := w.SessionID(); session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	if version := w.agreed(); version != "" {
		r.Header.Set(versionHeader, version)
	}
	for name, values := range w.headers {
		r.Header[name] = values
	}
	resp, err := w.client.Do(r)
	if err != nil {
		over()
		dial, ok := errors.AsType[*net.OpError](err)
		return nil, &failure{error: fmt.Errorf("cannot be reached: %w", withoutURL(err)), begun: !ok || dial.Op != "dial", broken: true}
	}
	resp.Body = &body{resp.Body, over}
	return resp, nil
}

// sign adds the token of a sign-in.
func (w *web) sign(ctx context.Context, r *http.Request) error {
	if w.oauth == nil {
		return nil
	}
	source, err := w.oauth.TokenSource(ctx)
	if err != nil || source == nil {
		return err
	}
	token, err := source.Token()
	if err != nil || token == nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token.AccessToken)
	return nil
}

// body is the body of an answer.
type body struct {
	io.ReadCloser
	over func()
}

// Close releases the request.
func (b *body) Close() error {
	defer b.over()
	return b.ReadCloser.Close()
}

func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// answers reads the answer to a call.
func (w *web) answers(ctx context.Context, resp *http.Response, id jsonrpc.ID) {
	if resp.StatusCode >= http.StatusBadRequest {
		w.refused(ctx, resp, id)
		return
	}
	var at position
	for {
		err := w.events(resp, &at, id)
		switch {
		case at.again != nil:
			_ = w.Write(ctx, at.again)
			return
		case !w.waits(id):
			return
		case errors.Is(err, errFrame):
			w.fail(id, &failure{error: err, begun: true})
			return
		case at.lost != nil:
			// It answers this request: nothing else was sent here.
			w.fail(id, at.lost)
			return
		}
		if resp = w.resume(ctx, &at); resp == nil {
			w.fail(id, &failure{error: errNoAnswer, begun: true})
			return
		}
	}
}

// resume goes on reading a stream that ended before the answer; nil if the server does not offer
// that.
func (w *web) resume(ctx context.Context, at *position) *http.Response {
	const tries = 5
	for n := 0; at.event != "" && n < tries; n++ {
		if sleep(ctx, max(at.retry, w.pause(n+1))) != nil {
			return nil
		}
		resp, err := w.send(ctx, http.MethodGet, nil, from(at.event))
		switch {
		case err != nil:
			continue
		case resp.StatusCode < http.StatusMultipleChoices:
			return resp
		}
		_ = resp.Body.Close()
		if resp.StatusCode < http.StatusInternalServerError {
			return nil
		}
	}
	return nil
}

// refused reads why the server refused a call.
func (w *web) refused(ctx context.Context, resp *http.Response, id jsonrpc.ID) {
	f, text := refusal(resp)
	f.gone = w.SessionID() != "" && (resp.StatusCode == http.StatusNotFound ||
		resp.StatusCode == http.StatusBadRequest && strings.Contains(strings.ToLower(f.Error()), "session"))
	if !f.gone {
		if h := w.take(text); h.again != nil {
			_ = w.Write(ctx, h.again)
			return
		}
	}
	r := w.answered(id)
	if r == nil {
		return
	}
	if again := w.otherVersion(r, &jsonrpc.Error{Message: string(text)}); again != nil {
		_ = w.Write(ctx, again)
		return
	}
	w.deliver(&jsonrpc.Response{ID: id, Error: f})
}

// refusal is an answer with an error's status, and its body.
func refusal(resp *http.Response) (f *failure, text []byte) {
	const most = 64 << 10
	text, _ = io.ReadAll(io.LimitReader(resp.Body, most))
	_ = resp.Body.Close()
	server := resp.StatusCode >= http.StatusInternalServerError
	return &failure{
		error: fmt.Errorf("answered with HTTP status %s%s", resp.Status, colon(word(words(text)))),
		begun: server, broken: server || resp.StatusCode == http.StatusUnauthorized,
	}, text
}

// words are what a body says to a person.
func words(body []byte) string {
	m := membersOf(body)
	for _, name := range []string{"error", "message", "detail", "error_description", "title"} {
		if e := errorOf(m[name]); e != nil {
			return e.Message
		}
	}
	if says := string(bytes.TrimSpace(body)); !strings.HasPrefix(says, "<") {
		return says
	}
	return ""
}

// take takes a text from the server. What it asks for again has the number of the request that it answers: that one has to be over.
func (w *web) take(text []byte) heard {
	h := w.hears(text)
	for _, message := range h.messages {
		w.deliver(message)
	}
	return h
}

// listen reads what the server says of its own accord, that its lists have changed. Servers may
// offer that, and podd needs it for nothing else, so it asks again ever more seldom.
func (w *web) listen() {
	var at position
	for times := 1; ; times++ {
		resp, err := w.send(w.ctx, http.MethodGet, nil, from(at.event))
		if err == nil {
			kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
			switch {
			case resp.StatusCode == http.StatusOK && kind == "text/event-stream":
				_ = w.events(resp, &at, jsonrpc.ID{})
			case resp.StatusCode < http.StatusInternalServerError || resp.StatusCode == http.StatusNotImplemented:
				_ = resp.Body.Close()
				return
			default:
				_ = resp.Body.Close()
			}
		}
		if sleep(w.ctx, max(at.retry, w.pause(times))) != nil {
			return
		}
	}
}
