//go:build integrations

package acp

import (
	"bufio"
	"bytes"
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

// peer is an editor: the protocol's TypeScript client in a node of its own.
type peer struct {
	t      *testing.T
	stdin  io.WriteCloser
	stderr lockedBuffer

	mu   sync.Mutex
	last int
	seen []event
}

// event is a line that the peer has said.
type event struct {
	ID       int
	Result   json.RawMessage
	Error    *struct{ Message string }
	Update   *update
	Question int
	// Withdrawn says that the question was taken back.
	Withdrawn bool
	Options   []struct{ Kind, OptionID string }
	ToolCall  struct{ Title, ToolCallID string }
	Exit      *int
}

// update is a session update, as far as these tests look at it.
type update struct {
	SessionUpdate, ToolCallID, Title, Kind, Status string
	Content                                        json.RawMessage
	Entries                                        []struct{ Content, Status string }
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds text.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newPeer starts an editor. At the end of the test it leaves, with nothing to complain
// about.
func newPeer(t *testing.T, w *rig.World, args ...string) *peer {
	t.Helper()
	p := &peer{t: t}
	script := append([]string{rig.Root() + "/integrations/acp/peer.mjs", rig.NPM(t), rig.Binaries(t) + "/podctl", "acp"}, args...)
	c := w.Command("node", script...)
	// It ends when its standard input does.
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
	t.Cleanup(func() {
		_ = p.stdin.Close()
		reader.Wait()
		err := c.Wait()
		exit := p.find(func(e event) bool { return e.Exit != nil })
		if err != nil || exit == nil || *exit.Exit != 0 || p.stderr.text() != "" {
			t.Errorf("the editor ended with %v, the agent with %+v; it said:\n%s", err, exit, p.stderr.text())
		}
	})
	var hello struct {
		ProtocolVersion   int
		AuthMethods       []any
		AgentCapabilities struct {
			LoadSession         bool
			SessionCapabilities struct{ List, Resume any }
		}
	}
	p.must(&hello, "initialize", map[string]any{"protocolVersion": 1, "clientInfo": map[string]string{"name": "typescript", "version": "1"}, "clientCapabilities": map[string]any{}})
	if hello.ProtocolVersion != 1 || !hello.AgentCapabilities.LoadSession || hello.AgentCapabilities.SessionCapabilities.List == nil || len(hello.AuthMethods) != 0 {
		t.Errorf("podd says %+v", hello)
	}
	return p
}

func (p *peer) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			p.t.Errorf("the editor says %q: %v", line, err)
		}
		p.mu.Lock()
		p.seen = append(p.seen, e)
		p.mu.Unlock()
	}
}

func (p *peer) write(m map[string]any) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	_, _ = p.stdin.Write(append(line, '\n')) // Of one that has ended the test hears anyway.
}

// begin sends a request and gives its number.
func (p *peer) begin(method string, params any) int {
	p.last++
	p.write(map[string]any{"id": p.last, "method": method, "params": params})
	return p.last
}

// answer waits for the answer to a request.
func (p *peer) answer(result any, id int) error {
	p.t.Helper()
	e := p.await("the answer", func(e event) bool { return e.ID == id })
	if e.Error != nil {
		return errors.New(e.Error.Message)
	}
	if err := json.Unmarshal(e.Result, result); err != nil {
		p.t.Fatal(err)
	}
	return nil
}

func (p *peer) must(result any, method string, params any) {
	p.t.Helper()
	if err := p.answer(result, p.begin(method, params)); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *peer) find(fits func(event) bool) *event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.seen, fits); i >= 0 {
		return &p.seen[i]
	}
	return nil
}

func (p *peer) await(what string, fits func(event) bool) event {
	p.t.Helper()
	var found *event
	rig.Await(p.t, what, func() bool {
		found = p.find(fits)
		return found != nil
	})
	return *found
}

// said is all text of a kind of chunk.
func (p *peer) said(kind string) string {
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

func (p *peer) awaitText(what string) {
	p.t.Helper()
	rig.Await(p.t, what, func() bool { return strings.Contains(p.said("agent_message_chunk"), what) })
}

// states are a call's, in order.
func (p *peer) states(call string) (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.seen {
		if e.Update != nil && e.Update.ToolCallID == call && e.Update.Status != "" {
			list = append(list, e.Update.Status)
		}
	}
	return list
}

// stopped is the answer to a prompt.
type stopped struct{ StopReason string }

func prompt(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]string{"type": "text", "text": text}}}
}

// session begins a session in the workspace.
func (p *peer) session(w *rig.World) string {
	p.t.Helper()
	var s struct{ SessionID string }
	p.must(&s, "session/new", map[string]any{"cwd": w.Workspace, "mcpServers": []any{}})
	return s.SessionID
}
