package worker

import (
	"context"
	"errors"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// asks lets a running call ask a person; see [tool.Invocation.Ask]. Meanwhile another call may have its slot, and the turn's clock
// stands still if no other call works. It is nil where nobody answers.
func (t *caller) asks(c *call, m *meter, slots chan struct{}) func(context.Context, string, item.Form) (item.ApprovalResolved, error) {
	if t.w.NoQuestions || t.j.turn.NoQuestions {
		return nil
	}
	return func(ctx context.Context, key string, f item.Form) (item.ApprovalResolved, error) {
		c.asks.Lock()
		defer c.asks.Unlock()
		m.Waits(true)
		defer m.Waits(false)
		<-slots
		defer func() { slots <- struct{}{} }()
		return t.ask(ctx, c, key, f)
	}
}

// ask asks a person for a running call. It runs in the call's goroutine.
func (t *caller) ask(ctx context.Context, c *call, key string, f item.Form) (item.ApprovalResolved, error) {
	f = t.clean(f)
	asked := item.ApprovalRequested{
		CallID: c.CallID, Tool: c.Name, Arguments: c.arguments, Digest: f.Digest(c.CallID, key), Question: tool.Bound(f.Line()), Form: &f, Key: key,
	}
	if t.w.QuestionTime > 0 {
		asked.Expires = t.w.Now().Add(t.w.QuestionTime).UTC()
	}
	alert := item.Alert{
		Pod: t.w.Pod, Level: item.LevelWarn, Source: "question", Reason: item.ReasonApprovalWaits, Time: t.w.Now(), Text: asked.AlertText(),
	}
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(t.j.waiting, func() { stop(context.Cause(t.j.waiting)) })()
	r, err := t.j.log.Ask(waiting, asked, alert)
	if err != nil && errors.Is(context.Cause(waiting), ErrShutdown) {
		err = tool.ErrGoesOn
	}
	return r, err
}

// clean is a form without secrets.
func (t *caller) clean(f item.Form) item.Form {
	redact := t.w.Output.Redact
	out := item.Form{From: redact(f.From), Text: redact(f.Text)}
	for _, q := range f.Questions {
		clean := item.FormQuestion{Header: redact(q.Header), Text: redact(q.Text), Multiple: q.Multiple, Takes: q.Takes}
		for _, o := range q.Options {
			clean.Options = append(clean.Options, item.FormOption{Label: redact(o.Label), Description: redact(o.Description)})
		}
		out.Questions = append(out.Questions, clean)
	}
	return out
}
