package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"podd/internal/clients/view"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// asking puts the calls of a pod that wait before the person at the terminal, one
// after the other. Without a terminal it says what waits and how to answer.
type asking struct {
	client *client.Client
	pod    string
	// told is where it is shown: with the turn, or, where that is shown as JSON, beside
	// it.
	told, beside *view.Turn
	// tty is where the answers are typed; nil when nobody is there.
	tty *os.File

	// live says that the stream has caught up: what it said to wait may still do so.
	live bool
	// seen are the calls that were shown, by sequence and digest.
	seen map[string]bool
	// queue are the calls to ask for. The question for the first stands on the terminal
	// while typed is set; stop takes it back.
	queue []*poddv1.Approval
	typed chan typedLine
	stop  context.CancelFunc
}

// typedLine is what was typed behind a question.
type typedLine struct {
	text string
	err  error
}

func (p *program) newAsking(c *client.Client, pod string, turn *view.Turn) *asking {
	a := &asking{client: c, pod: pod, told: turn, seen: make(map[string]bool)}
	if p.output == outputJSON {
		a.beside = view.NewTurn(view.Console{Out: io.Discard, Err: p.stderr}, "")
		a.told = a.beside
		return a
	}
	if _, ok := terminal(p.stdin); ok && p.console().ErrTerminal {
		a.tty, _ = p.stdin.(*os.File)
	}
	return a
}

// lost says that the stream broke.
func (a *asking) lost() { a.live = false }

// observe looks at a message for what concerns calls that wait.
func (a *asking) observe(ctx context.Context, m *poddv1.StreamResponse) {
	if m.GetCaughtUp() != nil {
		a.live = true
		a.look(ctx)
		return
	}
	e := m.GetEntry()
	switch {
	case e.GetApprovalRequested() != nil && a.live:
		a.look(ctx)
	case e.GetApprovalResolved() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return w.GetCallId() == e.GetApprovalResolved().GetCallId() })
	case e.GetItem().GetToolResult() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return w.GetCallId() == e.GetItem().GetToolResult().GetCallId() })
	case e.GetTurnEnded() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return w.GetTurn() == e.GetTurn() })
	}
}

// look finds the calls that wait and have not been shown.
func (a *asking) look(ctx context.Context) {
	list, err := approvals(ctx, a.client, a.pod)
	if err != nil {
		if a.passing(ctx, err) {
			return
		}
		a.told.Warn("which calls wait for approval cannot be told: " + err.Error())
	}
	for _, w := range list {
		if a.seen[callKey(w)] {
			continue
		}
		a.seen[callKey(w)] = true
		a.queue = append(a.queue, w)
	}
	a.next(ctx)
}

// callKey tells a call, as it stands, from all others.
func callKey(w *poddv1.Approval) string { return fmt.Sprintf("%d %s", w.GetCallSeq(), w.GetDigest()) }

// passing says that an error needs no words: the stream tells, or nothing waits.
func (a *asking) passing(ctx context.Context, err error) bool {
	kind := item.KindOf(err)
	return ctx.Err() != nil || kind == item.KindUnavailable || kind == item.KindUnimplemented
}

// next goes through the queue until a question stands.
func (a *asking) next(ctx context.Context) {
	for a.typed == nil && len(a.queue) > 0 {
		shown := view.ApprovalFromProto(a.queue[0])
		a.told.Approval(shown)
		if !a.ask(ctx) {
			a.told.Say(shown.HowTo(time.Now()))
			a.queue = a.queue[1:]
		}
	}
}

// ask puts the question. It is false when there is nobody to ask.
func (a *asking) ask(ctx context.Context) bool {
	if a.tty == nil || clearTyped(a.tty) != nil {
		return false
	}
	a.told.Ask("run it? " + view.Answers + ", else later:")
	ctx, a.stop = context.WithCancel(ctx)
	typed := make(chan typedLine, 1)
	a.typed = typed
	go func() {
		text, err := readTyped(ctx, a.tty)
		typed <- typedLine{text, err}
	}()
	return true
}

// void takes calls back that wait no more.
func (a *asking) void(ctx context.Context, over func(*poddv1.Approval) bool) {
	if a.typed != nil && over(a.queue[0]) {
		a.withdraw()
		a.told.Answered(false)
	}
	a.queue = slices.DeleteFunc(a.queue, over)
	a.next(ctx)
}

// withdraw takes the question back that stands, and waits until nobody reads.
func (a *asking) withdraw() {
	if a.typed != nil {
		a.stop()
		<-a.typed
		a.typed = nil
	}
}

// close takes back what is asked.
func (a *asking) close() {
	a.withdraw()
	if a.beside != nil {
		_ = a.beside.Close() // Nothing of it is held back.
	}
}

// answered does what was typed behind the question.
func (a *asking) answered(ctx context.Context, typed typedLine) {
	a.stop()
	a.typed = nil
	w := a.queue[0]
	a.queue = a.queue[1:]
	a.told.Answered(typed.err == nil)
	answer, ok := view.ParseAnswer(typed.text)
	if !ok || typed.err != nil {
		a.told.Say("left waiting; " + view.ApprovalFromProto(w).HowTo(time.Now()))
		a.next(ctx)
		return
	}
	resp, err := a.client.Approvals().ResolveApproval(ctx, &poddv1.ResolveApprovalRequest{
		Pod: w.GetPod(), CallSeq: w.GetCallSeq(), Digest: w.GetDigest(), Client: clientName,
		Approve: answer.Approve, Always: answer.Always, Reason: valid(answer.Reason),
	})
	if err != nil {
		a.failed(ctx, w, err)
	} else if resp.GetRule() != nil {
		a.told.Say("rule added: " + ruleText(wire.RuleFromProto(resp.GetRule())))
	}
	a.next(ctx)
}

// failed says why an answer did not count.
func (a *asking) failed(ctx context.Context, w *poddv1.Approval, err error) {
	if ctx.Err() != nil {
		return
	}
	a.told.Warn(err.Error())
	// What waits still is asked again: at once, or when podd is back.
	delete(a.seen, callKey(w))
	if item.KindOf(err) != item.KindUnavailable {
		a.look(ctx)
	}
}
