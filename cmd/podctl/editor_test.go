package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// editor is the client of a podctl acp. It writes the protocol's JSON itself, so that no
// library of podd's decides what is right.
type editor struct {
	t     *testing.T
	p     *podctlProcess
	stdin io.WriteCloser
	// answer decides on a permission request; "" leaves it unanswered.
	answer func(params json.RawMessage) (option string)

	mu      sync.Mutex
	next    int
	answers map[int]chan rpcMessage
	seen    []rpcMessage
	// more is closed and replaced when something is seen.
	more chan struct{}
}

type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Error is the message that an editor shows.
func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// newEditor starts a podctl acp and initializes it.
func (w *world) newEditor(answer func(json.RawMessage) string, args ...string) *editor {
	w.t.Helper()
	e := w.startEditor(answer, args...)
	var hello struct {
		ProtocolVersion   int
		AgentCapabilities struct{ LoadSession bool }
	}
	e.must("initialize", map[string]any{"protocolVersion": 1, "clientInfo": map[string]string{"name": "tester", "version": "1"}}, &hello)
	if hello.ProtocolVersion != 1 || !hello.AgentCapabilities.LoadSession {
		w.t.Errorf("podd says %+v", hello)
	}
	return e
}

// startEditor starts a podctl acp.
func (w *world) startEditor(answer func(json.RawMessage) string, args ...string) *editor {
	w.t.Helper()
	e := &editor{t: w.t, p: w.podctl(append([]string{"acp"}, args...)...), answer: answer, answers: make(map[int]chan rpcMessage), more: make(chan struct{})}
	// It ends with its standard input, at the end of the test.
	e.p.cmd.Cancel = func() error { return os.ErrProcessDone }
	var err error
	if e.stdin, err = e.p.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	out, in := io.Pipe()
	e.p.cmd.Stdout = in
	e.p.start()
	var reader sync.WaitGroup
	reader.Go(func() { e.read(out) })
	go func() {
		<-e.p.exited
		_ = in.Close()
	}()
	w.t.Cleanup(func() {
		_ = e.stdin.Close()
		if code := e.p.wait(); code != 0 {
			w.t.Errorf("podctl acp ended with %d: %s", code, e.p.err.String())
		}
		reader.Wait()
	})
	return e
}

// read reads podctl's output, which may contain only the protocol.
func (e *editor) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m rpcMessage
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			e.t.Errorf("podctl wrote %q", line)
			continue
		}
		if m.Method == "" {
			e.mu.Lock()
			waits := e.answers[*m.ID]
			e.mu.Unlock()
			waits <- m
			continue
		}
		if m.Method == "session/request_permission" {
			if option := e.answer(m.Params); option != "" {
				e.write(rpcMessage{JSONRPC: "2.0", ID: m.ID, Result: json.RawMessage(`{"outcome":{"outcome":"selected","optionId":"` + option + `"}}`)})
			}
		}
		e.mu.Lock()
		e.seen = append(e.seen, m)
		close(e.more)
		e.more = make(chan struct{})
		e.mu.Unlock()
	}
}

func (e *editor) write(m rpcMessage) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.stdin.Write(append(line, '\n')) // If podctl has ended, the test fails elsewhere.
}

func (e *editor) notify(method string, params any) {
	raw, _ := json.Marshal(params)
	e.write(rpcMessage{JSONRPC: "2.0", Method: method, Params: raw})
}

// begin sends a request; the channel delivers its answer.
func (e *editor) begin(method string, params any) <-chan rpcMessage {
	raw, err := json.Marshal(params)
	if err != nil {
		e.t.Fatal(err)
	}
	answer := make(chan rpcMessage, 1)
	e.mu.Lock()
	e.next++
	id := e.next
	e.answers[id] = answer
	e.mu.Unlock()
	e.write(rpcMessage{JSONRPC: "2.0", ID: &id, Method: method, Params: raw})
	return answer
}

// call sends a request and waits for its answer.
func (e *editor) call(method string, params, result any) error {
	e.t.Helper()
	return e.answered(e.begin(method, params), result)
}

func (e *editor) answered(answer <-chan rpcMessage, result any) error {
	e.t.Helper()
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			e.t.Fatalf("%s: %v", m.Result, err)
		}
		return nil
	case <-e.p.exited:
		e.t.Fatalf("podctl acp ended: %s", e.p.err.String())
		return nil
	}
}

func (e *editor) must(method string, params, result any) {
	e.t.Helper()
	if err := e.call(method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// await waits until a matching message was seen, and returns it.
func (e *editor) await(what string, fits func(m rpcMessage) bool) rpcMessage {
	e.t.Helper()
	for {
		e.mu.Lock()
		i := slices.IndexFunc(e.seen, fits)
		var found rpcMessage
		if i >= 0 {
			found = e.seen[i]
		}
		more := e.more
		e.mu.Unlock()
		if i >= 0 {
			return found
		}
		select {
		case <-more:
		case <-e.p.exited:
			e.t.Fatalf("%s did not come: %s", what, e.p.err.String())
		}
	}
}

// update is the part of a session update that tests check.
type update struct {
	SessionUpdate, ToolCallID, Title, Kind, Status string
	Content, RawOutput                             json.RawMessage
	Entries                                        []struct{ Content, Status string }
	Locations                                      []struct {
		Path string
		Line int
	}
	Used, Size int
}

// text is the text of a chunk.
func (u update) text() string {
	var c struct{ Text string }
	_ = json.Unmarshal(u.Content, &c) // The content of a call is a list.
	return c.Text
}

// updates are those received.
func (e *editor) updates() (list []update) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.seen {
		if u, ok := updateOf(m); ok {
			list = append(list, u)
		}
	}
	return list
}

func updateOf(m rpcMessage) (update, bool) {
	var params struct{ Update update }
	if m.Method != "session/update" || json.Unmarshal(m.Params, &params) != nil {
		return update{}, false
	}
	return params.Update, true
}

// awaitUpdate waits for a matching update.
func (e *editor) awaitUpdate(what string, fits func(u update) bool) update {
	e.t.Helper()
	u, _ := updateOf(e.await(what, func(m rpcMessage) bool {
		u, ok := updateOf(m)
		return ok && fits(u)
	}))
	return u
}

// said is all text of a kind of chunk.
func (e *editor) said(kind string) string {
	var text strings.Builder
	for _, u := range e.updates() {
		if u.SessionUpdate == kind {
			text.WriteString(u.text())
		}
	}
	return text.String()
}

// awaitText waits until the agent's text contains what.
func (e *editor) awaitText(what string) {
	e.t.Helper()
	e.await(fmt.Sprintf("%q", what), func(rpcMessage) bool {
		var text strings.Builder
		for _, m := range e.seen {
			if u, ok := updateOf(m); ok && u.SessionUpdate == "agent_message_chunk" {
				text.WriteString(u.text())
			}
		}
		return strings.Contains(text.String(), what)
	})
}

// callStates are the states of a call, in order.
func (e *editor) callStates(id string) (states []string) {
	for _, u := range e.updates() {
		if u.ToolCallID == id && u.Status != "" {
			states = append(states, u.Status)
		}
	}
	return states
}

// session begins one in the world's directory.
func (e *editor) session(dir string) string {
	e.t.Helper()
	var s struct {
		SessionID string
		Modes     struct {
			CurrentModeID  string
			AvailableModes []struct{ ID string }
		}
	}
	e.must("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}, &s)
	if s.SessionID == "" || s.Modes.CurrentModeID != "default" || len(s.Modes.AvailableModes) != 5 {
		e.t.Errorf("the new session is %+v", s)
	}
	return s.SessionID
}

type stop struct{ StopReason string }

func promptOf(session string, blocks ...any) map[string]any {
	for i, b := range blocks {
		if text, ok := b.(string); ok {
			blocks[i] = map[string]string{"type": "text", "text": text}
		}
	}
	return map[string]any{"sessionId": session, "prompt": blocks}
}
