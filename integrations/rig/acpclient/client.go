//go:build integrations

// Package acpclient is an editor that speaks the Agent Client Protocol: the client of the
// protocol's own TypeScript library, which checks every message against its schema.
package acpclient

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/integrations/rig"
)

// Client is an editor: the protocol's TypeScript client in its own Node process.
type Client struct {
	t      testing.TB
	stdin  io.WriteCloser
	stderr rig.Buffer
	// Quit ends it and the agent, which must not have reported any error.
	Quit func()

	mu   sync.Mutex
	last int
	seen []Event
}

// Event is a line from the client.
type Event struct {
	ID       int
	Result   json.RawMessage
	Error    *struct{ Message string }
	Update   *Update
	Question int
	// Withdrawn says that the question was withdrawn.
	Withdrawn bool
	Options   []struct{ Kind, OptionID string }
	ToolCall  struct{ Title, ToolCallID string }
	// Form is an elicitation.
	Form *struct {
		SessionID, ToolCallID, Message string
		RequestedSchema                json.RawMessage
	}
	Exit *int
}

// Update is the part of a session update that these tests check.
type Update struct {
	SessionUpdate, ToolCallID, Title, Kind, Status string
	Content                                        json.RawMessage
	Entries                                        []struct{ Content, Status string }
	AvailableCommands                              []struct{ Name string }
	// State, StopReason and MessageID are of version 2.
	State, StopReason, MessageID string
}

// Start starts an editor and its agent. It quits when the test ends.
func Start(t *testing.T, w *rig.World, args ...string) *Client {
	t.Helper()
	return StartWith(t, w, map[string]any{}, args...)
}

// StartWith is Start for an editor with capabilities.
func StartWith(t *testing.T, w *rig.World, capabilities map[string]any, args ...string) *Client {
	t.Helper()
	p := start(t, w, "", args)
	var hello struct {
		ProtocolVersion   int
		AuthMethods       []any
		AgentCapabilities struct {
			LoadSession         bool
			SessionCapabilities struct{ List, Resume, Close, Delete, Fork any }
		}
	}
	p.Must(&hello, "initialize", map[string]any{"protocolVersion": 1, "clientInfo": map[string]string{"name": "typescript", "version": "1"}, "clientCapabilities": capabilities})
	if hello.ProtocolVersion != 1 || !hello.AgentCapabilities.LoadSession || hello.AgentCapabilities.SessionCapabilities.List == nil || hello.AgentCapabilities.SessionCapabilities.Close == nil || hello.AgentCapabilities.SessionCapabilities.Delete == nil || len(hello.AuthMethods) != 1 {
		t.Errorf("podd says %+v", hello)
	}
	return p
}

// StartSecond is StartWith for an editor that speaks version 2 and knows what is unstable in it.
func StartSecond(t *testing.T, w *rig.World, capabilities map[string]any) *Client {
	t.Helper()
	p := start(t, w, "/experimental/v2/unstable", nil)
	var hello struct {
		ProtocolVersion int
		AuthMethods     []any
		Capabilities    struct{ Session struct{ Delete, Fork any } }
	}
	p.Must(&hello, "initialize", map[string]any{"protocolVersion": 2, "info": map[string]string{"name": "typescript", "version": "1"}, "capabilities": capabilities})
	if s := hello.Capabilities.Session; hello.ProtocolVersion != 2 || s.Delete == nil || s.Fork == nil || len(hello.AuthMethods) != 1 {
		t.Errorf("podd says %+v", hello)
	}
	return p
}

// start starts an editor with the part of the protocol's package that speaks a version.
func start(t *testing.T, w *rig.World, entry string, args []string) *Client {
	t.Helper()
	p := &Client{t: t}
	script := append([]string{rig.Root() + "/integrations/rig/acpclient/client.mjs", rig.NPM(t), entry, rig.Binaries(t) + "/podctl", "acp"}, args...)
	c := w.Command("node", script...)
	// It ends with its standard input.
	c.Cancel = func() error { return os.ErrProcessDone }
	c.Stderr = &p.stderr
	var err error
	if p.stdin, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	reader.Go(func() { p.read(out) })
	p.Quit = sync.OnceFunc(func() {
		_ = p.stdin.Close()
		reader.Wait()
		err := c.Wait()
		exit := p.find(func(e Event) bool { return e.Exit != nil })
		if err != nil || exit == nil || *exit.Exit != 0 || p.stderr.String() != "" {
			t.Errorf("the editor ended with %v, the agent with %+v; it said:\n%s", err, exit, p.stderr.String())
		}
	})
	t.Cleanup(p.Quit)
	return p
}

func (p *Client) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			p.t.Errorf("the editor says %q: %v", line, err)
		}
		p.mu.Lock()
		p.seen = append(p.seen, e)
		p.mu.Unlock()
	}
}

// Write sends a message.
func (p *Client) Write(m map[string]any) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	_, _ = p.stdin.Write(append(line, '\n')) // If it has ended, the test fails elsewhere.
}

// Begin sends a request and returns its number.
func (p *Client) Begin(method string, params any) int {
	p.last++
	p.Write(map[string]any{"id": p.last, "method": method, "params": params})
	return p.last
}

// Answer waits for the answer to a request.
func (p *Client) Answer(result any, id int) error {
	p.t.Helper()
	e := p.Await("the answer", func(e Event) bool { return e.ID == id })
	if e.Error != nil {
		return errors.New(e.Error.Message)
	}
	if err := json.Unmarshal(e.Result, result); err != nil {
		p.t.Fatal(err)
	}
	return nil
}

// Must sends a request whose answer must not be an error.
func (p *Client) Must(result any, method string, params any) {
	p.t.Helper()
	if err := p.Answer(result, p.Begin(method, params)); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *Client) find(fits func(Event) bool) *Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.seen, fits); i >= 0 {
		return &p.seen[i]
	}
	return nil
}

// Await waits for an event.
func (p *Client) Await(what string, fits func(Event) bool) Event {
	p.t.Helper()
	var found *Event
	rig.Await(p.t, what, func() bool {
		found = p.find(fits)
		return found != nil
	})
	return *found
}

// Said is all text of a kind of chunk.
func (p *Client) Said(kind string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all strings.Builder
	for _, e := range p.seen {
		var c struct{ Text string }
		if e.Update != nil && e.Update.SessionUpdate == kind && json.Unmarshal(e.Update.Content, &c) == nil {
			all.WriteString(c.Text)
		}
	}
	return all.String()
}

// AwaitText waits until the assistant has said something.
func (p *Client) AwaitText(what string) {
	p.t.Helper()
	rig.Await(p.t, what, func() bool { return strings.Contains(p.Said("agent_message_chunk"), what) })
}

// States are the states of a call, in order.
func (p *Client) States(call string) (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.seen {
		if e.Update != nil && e.Update.ToolCallID == call && e.Update.Status != "" {
			list = append(list, e.Update.Status)
		}
	}
	return list
}

// WorkStates are the states of the work, in order, each with why the work stopped.
func (p *Client) WorkStates() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.seen {
		if e.Update != nil && e.Update.State != "" {
			list = append(list, strings.TrimSuffix(e.Update.State+" "+e.Update.StopReason, " "))
		}
	}
	return list
}

// Stopped is the answer to a prompt.
type Stopped struct{ StopReason string }

// Prompt is a prompt to a session.
func Prompt(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]string{"type": "text", "text": text}}}
}

// Session begins a session in the workspace.
func (p *Client) Session(w *rig.World) string {
	p.t.Helper()
	var s struct{ SessionID string }
	p.Must(&s, "session/new", map[string]any{"cwd": w.Workspace, "mcpServers": []any{}})
	return s.SessionID
}
