package acp

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/coder/acp-go-sdk"

	poddv1 "podd/proto/podd/v1"
)

// introduce tells the editor what it may not know of the session: its title and its commands.
func (s *session) introduce() {
	s.tell(acp.SessionUpdate{SessionInfoUpdate: &acp.SessionSessionInfoUpdate{Title: acp.Ptr(s.name)}})
	update := acp.SessionAvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{}}
	known, _ := s.Client.Pods().ListPrompts(s.ctx, &poddv1.ListPromptsRequest{Pod: s.pod}) // A prompt says what is wrong.
	for _, p := range known.GetPrompts() {
		c := acp.AvailableCommand{Name: p.GetName(), Description: p.GetAbout()}
		if p.GetArguments() != "" {
			c.Input = &acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: p.GetArguments()}}
		}
		update.AvailableCommands = append(update.AvailableCommands, c)
	}
	s.tell(acp.SessionUpdate{AvailableCommandsUpdate: &update})
}

// commands says whether a prompt begins with a slash: podd then puts the prompt that it names in its place, and finds the
// references.
func commands(blocks []acp.ContentBlock) bool {
	return len(blocks) > 0 && blocks[0].Text != nil && strings.HasPrefix(blocks[0].Text.Text, "/")
}

// compacts says whether a prompt asks for a summary of the conversation instead of a turn.
func compacts(blocks []acp.ContentBlock) bool {
	return commands(blocks) && strings.Fields(blocks[0].Text.Text)[0] == "/compact"
}

// compact summarizes the conversation. A cancel of the prompt ends that.
func (s *session) compact(ctx context.Context, id string) (acp.StopReason, error) {
	if s.submitted(id) {
		return acp.StopReasonCancelled, nil
	}
	_, err := s.Client.Pods().Compact(ctx, &poddv1.CompactRequest{Pod: s.pod})
	if s.cancelled(id) {
		s.resolve(nil, outcome{})
		return acp.StopReasonCancelled, nil
	}
	return acp.StopReasonEndTurn, err
}

// output is the way to the editor. It knows when the editor has got the answer that names a new session.
type output struct {
	io.Writer
	mu    sync.Mutex
	named map[acp.SessionId]func()
}

// Write writes a message.
func (o *output) Write(message []byte) (int, error) {
	n, err := o.Writer.Write(message)
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, then := range o.named {
		if bytes.Contains(message, []byte(`"sessionId":"`+string(id)+`"`)) {
			delete(o.named, id)
			then()
		}
	}
	return n, err
}

// once calls a function after the first message that names a session. The function does not wait.
func (o *output) once(id acp.SessionId, then func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.named[id] = then
}
