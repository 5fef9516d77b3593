package acp

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/coder/acp-go-sdk"

	"podd/internal/clients/ownprompts"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// commands are what a prompt may begin with.
func (s *session) commands(ctx context.Context) []ownprompts.Prompt {
	workspace := s.dir
	if s.Remote {
		workspace = ""
	}
	got, _ := s.Client.Pods().GetContext(ctx, &poddv1.GetContextRequest{Pod: s.pod}) // A prompt says what is wrong.
	return ownprompts.All(s.Env, workspace, got.GetFixed())
}

// introduce tells the editor what it may not know of the session: its title and its commands.
func (s *session) introduce() {
	s.tell(acp.SessionUpdate{SessionInfoUpdate: &acp.SessionSessionInfoUpdate{Title: acp.Ptr(s.name)}})
	update := acp.SessionAvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{}}
	for _, p := range s.commands(s.ctx) {
		c := acp.AvailableCommand{Name: p.Name, Description: p.Description()}
		if hint := p.Arguments(); hint != "" || p.Takes() {
			c.Input = &acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: hint}}
		}
		update.AvailableCommands = append(update.AvailableCommands, c)
	}
	s.tell(acp.SessionUpdate{AvailableCommandsUpdate: &update})
}

// command does what a prompt asks that begins with a command. A prompt of the person's own takes the place of the text that
// names it; what podd does itself ends with an answer.
func (s *session) command(ctx context.Context, id string, blocks []acp.ContentBlock) (list []acp.ContentBlock, answer acp.StopReason, err error) {
	if len(blocks) == 0 || blocks[0].Text == nil {
		return blocks, "", nil
	}
	if !strings.HasPrefix(strings.TrimSpace(blocks[0].Text.Text), "/") {
		return blocks, "", nil
	}
	found, typed, ok := ownprompts.Find(s.commands(ctx), blocks[0].Text.Text)
	switch {
	case !ok:
		return blocks, "", nil
	case found.Name == ownprompts.Compact:
		answer, err = s.itself(id, blocks, func() (acp.StopReason, error) { return s.compact(ctx, id) })
		return nil, answer, err
	}
	text, err := found.With(typed)
	if err != nil {
		return nil, "", item.Errorf(item.KindInvalid, "COMMAND", "%v", err)
	}
	return append([]acp.ContentBlock{acp.TextBlock(text)}, blocks[1:]...), "", nil
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
