package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// elicitation asks the editor to show a form. The library's own type lacks the session.
type elicitation struct {
	SessionID  acp.SessionId                 `json:"sessionId"`
	ToolCallID acp.ToolCallId                `json:"toolCallId"`
	Mode       string                        `json:"mode"`
	Message    string                        `json:"message"`
	Schema     acp.UnstableElicitationSchema `json:"requestedSchema"`
}

// elicited is the editor's answer.
type elicited struct {
	Action  string                     `json:"action"`
	Content map[string]json.RawMessage `json:"content"`
}

// askForm asks the person at the editor what a running call asks: in a form if the editor has them, else in a message that the next
// prompt answers.
func (s *session) askForm(ctx context.Context, w *poddv1.Approval) {
	shown := view.ApprovalFromProto(w)
	if !s.elicits() {
		if !s.awaitReply(ctx, w) {
			return
		}
		s.notice("pod "+shown.Pod+" asks you. Your next prompt answers: the number of an option or a text, a line for each question; d lets the model decide.",
			append(shown.LinesBesideDiffs(0), shown.HowTo(time.Now()))...)
		return
	}
	resp, err := acp.SendRequest[elicited](s.conn, ctx, acp.ClientMethodElicitationCreate, elicitation{
		SessionID: s.id, ToolCallID: acp.ToolCallId(shown.CallID), Mode: "form",
		Message: strings.Join(shown.LinesBesideDiffs(0), "\n"), Schema: schemaOf(shown.Form),
	})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.left(shown)
		return
	}
	answer := &poddv1.ResolveApprovalRequest{Dismiss: true}
	if resp.Action == "accept" {
		answer = &poddv1.ResolveApprovalRequest{Approve: true, Replies: wire.RepliesToProto(repliesOf(shown.Form, resp.Content))}
	}
	if err := s.reply(ctx, w, answer); err != nil && ctx.Err() == nil {
		s.notice(err.Error() + "; " + shown.HowTo(time.Now()))
	}
}

// reply sends an answer to what was shown.
func (s *session) reply(ctx context.Context, w *poddv1.Approval, answer *poddv1.ResolveApprovalRequest) error {
	answer.Pod, answer.CallSeq, answer.Digest, answer.Client = w.GetPod(), w.GetCallSeq(), w.GetDigest(), s.client()
	_, err := s.Client.Approvals().ResolveApproval(ctx, answer)
	return err
}

// field and ownField name the fields of a question: its options, and the person's own text.
func field(question int) string    { return fmt.Sprintf("answer%d", question+1) }
func ownField(question int) string { return fmt.Sprintf("own%d", question+1) }

// schemaOf is a form as the schema of an elicitation. Options are the strings of their numbers.
func schemaOf(f *item.Form) acp.UnstableElicitationSchema {
	schema := acp.UnstableElicitationSchema{Type: acp.UnstableElicitationSchemaTypeObject, Properties: map[string]any{}}
	for i, q := range f.Questions {
		title := sanitize.Line(strings.TrimPrefix(q.Header+": "+q.Text, ": "))
		if len(q.Options) == 0 {
			schema.Properties[ownField(i)] = map[string]any{"type": "string", "title": title}
			schema.Required = append(schema.Required, ownField(i))
			continue
		}
		options := make([]map[string]string, len(q.Options))
		for n, o := range q.Options {
			label := o.Label
			if o.Description != "" {
				label += ": " + o.Description
			}
			options[n] = map[string]string{"const": strconv.Itoa(n + 1), "title": sanitize.Line(label)}
		}
		schema.Properties[field(i)] = map[string]any{"type": "string", "title": title, "oneOf": options}
		if q.Multiple {
			schema.Properties[field(i)] = map[string]any{"type": "array", "title": title, "items": map[string]any{"anyOf": options}}
		}
		schema.Properties[ownField(i)] = map[string]any{"type": "string", "title": "In your own words"}
	}
	return schema
}

// repliesOf reads the content of an elicitation. What it cannot read is no answer, which podd refuses.
func repliesOf(f *item.Form, content map[string]json.RawMessage) []item.FormReply {
	replies := make([]item.FormReply, len(f.Questions))
	for i := range replies {
		var one, own string
		var chosen []string
		if json.Unmarshal(content[field(i)], &chosen) != nil && json.Unmarshal(content[field(i)], &one) == nil {
			chosen = []string{one}
		}
		for _, text := range chosen {
			if n, err := strconv.Atoi(text); err == nil {
				replies[i].Choices = append(replies[i].Choices, n)
			}
		}
		if json.Unmarshal(content[ownField(i)], &own) == nil {
			replies[i].Text = valid(strings.TrimSpace(own))
		}
	}
	return replies
}

// awaitReply lets the next prompt answer a form, unless ctx has ended because the form is withdrawn.
func (p *prompts) awaitReply(ctx context.Context, w *poddv1.Approval) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	p.forms = slices.DeleteFunc(p.forms, func(o *poddv1.Approval) bool { return o.GetCallId() == w.GetCallId() })
	p.forms = append(p.forms, w)
	return true
}

// replied forgets the form of a call.
func (p *prompts) replied(callID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forms = slices.DeleteFunc(p.forms, func(o *poddv1.Approval) bool { return o.GetCallId() == callID })
}

// askedFirst is the form that the next prompt answers; nil if none waits.
func (p *prompts) askedFirst() *poddv1.Approval {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.forms) == 0 {
		return nil
	}
	return p.forms[0]
}

// answers takes a prompt as the answer to the oldest form that waits for one. ok is false if it is a prompt of its own.
func (s *session) answers(ctx context.Context, blocks []acp.ContentBlock) (ok bool) {
	w := s.askedFirst()
	if w == nil {
		return false
	}
	var b strings.Builder
	for _, block := range blocks {
		if block.Text == nil {
			return false
		}
		b.WriteString(block.Text.Text)
	}
	answer, err := typedAnswer(wire.FormFromProto(w.GetForm()), valid(b.String()))
	if err == nil {
		err = s.reply(ctx, w, answer)
	}
	if kind := item.KindOf(err); err == nil || kind == item.KindPrecondition || kind == item.KindNotFound {
		s.replied(w.GetCallId())
	}
	if err != nil {
		s.notice(err.Error())
	}
	return true
}

// typedAnswer reads a prompt as the answer to a form: a line for each question if it has several.
func typedAnswer(f *item.Form, text string) (*poddv1.ResolveApprovalRequest, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "d") {
		return &poddv1.ResolveApprovalRequest{Dismiss: true}, nil
	}
	lines := []string{text}
	if len(f.Questions) > 1 {
		lines = strings.Split(text, "\n")
	}
	switch {
	case len(f.Questions) == 0 && !strings.EqualFold(text, "yes"):
		return nil, item.Errorf(item.KindInvalid, "BAD_ANSWER", "the call waits for yes, or for d: write one of them")
	case len(f.Questions) > 0 && len(lines) != len(f.Questions):
		return nil, item.Errorf(item.KindInvalid, "BAD_ANSWER", "the call asks %d questions, the prompt has %d lines: write a line for each", len(f.Questions), len(lines))
	}
	var replies []item.FormReply
	for i, q := range f.Questions {
		replies = append(replies, view.ParseReply(q, lines[i]))
	}
	return &poddv1.ResolveApprovalRequest{Approve: true, Replies: wire.RepliesToProto(replies)}, nil
}
