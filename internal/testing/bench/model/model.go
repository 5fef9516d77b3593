// Package model is the model endpoint for measuring podd and the floor: Chat Completions
// over plain net/http, answers of prebuilt bytes, so that its own cost is small and the
// same for every client. It checks nothing; pkg/llm/scripted does.
//
// The newest prompt in a request selects the answer by a word of the form bench:KIND-N.
//
//	bench:say-0       one line of text
//	bench:loop-N      N answers with one call of the shell tool, then a line of text
//	bench:slow-N      the same, each answer after Delay
//	bench:write-N     the same without a delay, with calls that write a file
//	bench:stream-N    N chunks of text
//
// Rank 6; not part of podd.
package model

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Delay is how long a slow model thinks.
const Delay = 200 * time.Millisecond

// Stats is what a server has counted since Reset.
type Stats struct {
	Connections, Requests int64
	// First is the body of the first request.
	First []byte
}

// Server answers requests. The zero value is ready.
type Server struct {
	connections, requests atomic.Int64
	mu                    sync.Mutex
	first                 []byte
}

// New makes the server; its caller serves it.
func (s *Server) New() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.answer)
	return &http.Server{Handler: mux, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}}
}

// Stats is what the server has counted since Reset.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Connections: s.connections.Load(), Requests: s.requests.Load(), First: s.first}
}

// Reset sets the counts to zero. It does not count open connections again.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections.Store(0)
	s.requests.Store(0)
	s.first = nil
}

// record notes a request.
func (s *Server) record(body []byte) {
	if s.requests.Add(1) > 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = body
}

const (
	head    = `data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"bench","choices":[{"index":0,"delta":`
	tail    = `,"logprobs":null,"finish_reason":null}]}` + "\n\n"
	role    = head + `{"role":"assistant","content":""}` + tail
	token   = head + `{"content":"word "}` + tail
	stopped = `data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"bench","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"%s"}]}` + "\n\n"
	usage   = `data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"bench","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}` + "\n\ndata: [DONE]\n\n"
	called  = head + `{"tool_calls":[{"index":0,"id":"call_%d_%d","type":"function","function":{"name":"shell","arguments":""}}]}` + tail +
		head + `{"tool_calls":[{"index":0,"function":{"arguments":"{\"command\":\"echo step %d%s\"}"}}]}` + tail
)

// lump is many chunks, for long streams.
var lump = bytes.Repeat([]byte(token), 64)

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 0, max(r.ContentLength, 0)+1)
	buffer := bytes.NewBuffer(body)
	if _, err := buffer.ReadFrom(r.Body); err != nil {
		return
	}
	body = buffer.Bytes()
	s.record(body)
	kind, n, done := parse(body)
	if kind == "slow" {
		time.Sleep(Delay)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, role)
	out, reason := 1, "stop"
	switch {
	case kind == "stream":
		out = n
		for ; n >= 64; n -= 64 {
			if _, err := w.Write(lump); err != nil {
				return
			}
		}
		_, _ = w.Write(lump[:n*len(token)])
	case (kind == "loop" || kind == "slow" || kind == "write") && done < n:
		reason = "tool_calls"
		to := ""
		if kind == "write" {
			to = " >made.txt"
		}
		fmt.Fprintf(w, called, len(body), done, done, to)
	default:
		_, _ = io.WriteString(w, token)
	}
	fmt.Fprintf(w, stopped, reason)
	in := len(body) / 4
	fmt.Fprintf(w, usage, in, out, in+out, in*9/10)
}

// parse finds the newest prompt, and the number of tool results after it.
func parse(body []byte) (kind string, n, done int) {
	const mark = "bench:"
	at := bytes.LastIndex(body, []byte(mark))
	if at < 0 {
		return "", 0, 0
	}
	rest := body[at+len(mark):]
	word, number, _ := bytes.Cut(rest[:min(len(rest), 20)], []byte("-"))
	for i, c := range number {
		if c < '0' || c > '9' {
			number = number[:i]
			break
		}
	}
	n, _ = strconv.Atoi(string(number))
	return string(word), n, bytes.Count(rest, []byte(`"role":"tool"`))
}
