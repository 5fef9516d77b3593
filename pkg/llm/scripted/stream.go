package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
)

// writer turns parts into the events of one API.
type writer interface {
	// begin opens the answer.
	begin()
	// text adds words of a part; first and last mark its ends.
	text(words string, reasoning, first, last bool)
	call(c Call)
	// end closes the answer.
	end(stop string, usage *item.Usage)
}

// stream sends one reply.
type stream struct {
	w     http.ResponseWriter
	ctx   context.Context
	r     Request
	reply Reply
	out   writer
	// cached is the size of the cached part of the request, in bytes; sent is that of the
	// answer.
	cached, sent int
	buf          bytes.Buffer
}

func newStream(ctx context.Context, w http.ResponseWriter, r Request, reply Reply, cached int) *stream {
	// A handler may return the same parts again.
	reply.Parts = slices.Clone(reply.Parts)
	s := &stream{w: w, ctx: ctx, r: r, reply: reply, cached: cached}
	sum := fnv.New64a()
	_, _ = sum.Write(r.Body)
	id := strconv.FormatUint(sum.Sum64(), 36)
	for i, p := range reply.Parts {
		if c, ok := p.(Call); ok && c.ID == "" {
			// Each step's request differs, so the ids do too.
			c.ID = fmt.Sprintf("call_%s_%d", id, i)
			reply.Parts[i] = c
		}
	}
	switch r.API {
	case "responses":
		s.out = &responsesWriter{s: s, id: id}
	case "messages":
		s.out = &messagesWriter{s: s, id: id}
	default:
		s.out = &chatWriter{s: s, id: id}
	}
	return s
}

// run sends all parts; it returns early when the client is gone.
func (s *stream) run() {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
	s.out.begin()
	for _, p := range s.reply.Parts {
		if !s.part(p) || s.ctx.Err() != nil {
			return
		}
	}
	s.out.end(s.reply.Stop, s.usage())
	s.flush()
}

// part sends one part; it returns false when the answer ends there.
func (s *stream) part(p Part) bool {
	switch v := p.(type) {
	case Text:
		s.words(string(v), false)
	case Reasoning:
		if v == "" {
			s.out.text("", true, true, true)
		}
		s.words(string(v), true)
	case Call:
		s.sent += len(v.Name) + len(v.Arguments)
		s.out.call(v)
		s.delay()
	case Pause:
		s.flush()
		return s.wait(nil, time.Duration(v))
	case Wait:
		s.flush()
		return s.wait(v, -1)
	case Cut:
		s.flush()
		return false
	case Reset:
		s.flush()
		s.reset()
		return false
	case Stall:
		s.flush()
		return s.wait(nil, -1)
	}
	return true
}

// words streams text a word at a time.
func (s *stream) words(text string, reasoning bool) {
	s.sent += len(text)
	for first := true; text != "" && s.ctx.Err() == nil; first = false {
		n := strings.IndexAny(text, " \n") + 1
		if n == 0 {
			n = len(text)
		}
		s.out.text(text[:n], reasoning, first, n == len(text))
		text = text[n:]
		s.delay()
	}
}

// delay waits between chunks.
func (s *stream) delay() {
	if s.reply.Delay > 0 {
		s.flush()
		s.wait(nil, s.reply.Delay)
	}
}

// wait waits for the channel or, if it is not negative, the time; it returns false when
// the client is gone.
func (s *stream) wait(c <-chan struct{}, d time.Duration) bool {
	var timeout <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-c:
		return true
	case <-timeout:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// reset closes the connection so that the client sees a reset and not an end.
func (s *stream) reset() {
	conn, _, err := http.NewResponseController(s.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// event writes one event; name may be empty.
func (s *stream) event(name string, data any) {
	if name != "" {
		s.buf.WriteString("event: " + name + "\n")
	}
	s.buf.WriteString("data: ")
	s.buf.Write(encode(data))
	s.buf.WriteString("\n\n")
	if s.buf.Len() > 16<<10 {
		s.flush()
	}
}

func (s *stream) flush() {
	_, _ = s.w.Write(s.buf.Bytes())
	s.buf.Reset()
	_ = http.NewResponseController(s.w).Flush()
}

// usage is the usage of the reply, or an estimate; nil for none.
func (s *stream) usage() *item.Usage {
	switch {
	case s.reply.NoUsage:
		return nil
	case s.reply.Usage != nil:
		return s.reply.Usage
	}
	return &item.Usage{
		Input:       int64(len(s.r.Body)+3) / 4,
		CachedInput: int64(s.cached) / 4,
		Output:      int64(s.sent+3) / 4,
	}
}

// encode returns the JSON of a value from this package. Its text stays readable: it does
// not escape HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// errorBody is OpenAI's error object.
func errorBody(code, message string) string {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	return string(encode(map[string]object{"error": {Message: message, Type: "invalid_request_error", Code: code}}))
}
