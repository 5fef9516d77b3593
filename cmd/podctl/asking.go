package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"podd/internal/clients/view"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// asking asks the person at the terminal about the calls of a pod that wait, one after
// the other. Without a terminal it prints each call and the commands that answer it.
type asking struct {
	client *client.Client
	pod    string
	// told is where questions are shown: with the turn or, if that is shown as JSON, on
	// standard error.
	told, beside *view.Turn
	// tty is where the answers are typed; nil without a terminal.
	tty *os.File

	// live says that the stream has caught up: calls it reported as waiting may still wait.
	// at is the last sequence that was shown.
	live bool
	at   int64
	// seen are the calls that were shown, by sequence and digest.
	seen map[string]bool
	// queue are the calls to ask about. While typed is set, the question about the first is
	// on the terminal; stop withdraws it.
	queue []*poddv1.Approval
	typed chan typedLine
	stop  context.CancelFunc
	// proposed says that the question is whether to add a rule.
	proposed bool
}

// typedLine is what was typed behind a question.
type typedLine struct {
	text string
	err  error
}

// newAsking asks about calls that are shown after a sequence, and those that wait already.
func newAsking(s *session, pod string, turn *view.Turn, after int64) *asking {
	a := &asking{client: s.Client, pod: pod, told: turn, at: after, seen: make(map[string]bool)}
	if s.output == outputJSON {
		a.beside = view.NewTurn(view.Console{Out: io.Discard, Err: s.stderr}, "")
		a.told = a.beside
		return a
	}
	if _, ok := terminal(s.stdin); ok && s.console().ErrTerminal {
		a.tty, _ = s.stdin.(*os.File)
	}
	return a
}

// lost says that the stream broke.
func (a *asking) lost() { a.live = false }

// observe looks at a message for what concerns calls that wait.
func (a *asking) observe(ctx context.Context, m *poddv1.StreamResponse) {
	a.at = max(a.at, m.GetEntry().GetSeq(), m.GetCaughtUp().GetSeq())
	if m.GetCaughtUp() != nil {
		a.live = true
		a.findPending(ctx)
		return
	}
	e := m.GetEntry()
	switch {
	case e.GetApprovalRequested() != nil && a.live:
		a.findPending(ctx)
	case e.GetApprovalResolved() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return w.GetCallId() == e.GetApprovalResolved().GetCallId() })
	case e.GetItem().GetToolResult() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return w.GetCallId() == e.GetItem().GetToolResult().GetCallId() })
	case e.GetTurnEnded() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return w.GetTurn() == e.GetTurn() })
	}
}

// findPending finds the calls that wait and have not been shown.
func (a *asking) findPending(ctx context.Context) {
	list, err := approvals(ctx, a.client, a.pod)
	if err != nil {
		if a.passing(ctx, err) {
			return
		}
		a.told.Warn("cannot list pending approvals: " + err.Error())
	}
	for _, w := range list {
		// A call that the stream has not shown yet is asked about behind its turn's start.
		if a.seen[callKey(w)] || w.GetCallSeq() > a.at {
			continue
		}
		a.seen[callKey(w)] = true
		a.queue = append(a.queue, w)
	}
	a.next(ctx)
}

// callKey identifies a call with its current content.
func callKey(w *poddv1.Approval) string { return fmt.Sprintf("%d %s", w.GetCallSeq(), w.GetDigest()) }

// passing says that an error needs no message: the stream reports it, or nothing waits.
func (a *asking) passing(ctx context.Context, err error) bool {
	kind := item.KindOf(err)
	return ctx.Err() != nil || kind == item.KindUnavailable || kind == item.KindUnimplemented
}

// next goes through the queue until a question is on the terminal.
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

// ask asks the question. It returns false without a terminal.
func (a *asking) ask(ctx context.Context) bool {
	answers := view.Answers
	if item.HideArguments(wire.PreviewsFromProto(a.queue[0].GetPreviews())) {
		answers += " [v] arguments"
	}
	return a.prompt(ctx, "Run it? "+answers+" [Enter] later:")
}

// prompt shows a question and reads the answer. It returns false without a terminal.
func (a *asking) prompt(ctx context.Context, question string) bool {
	if a.proposed = false; a.tty == nil || clearTyped(a.tty) != nil {
		return false
	}
	a.told.Ask(question)
	ctx, a.stop = context.WithCancel(ctx)
	typed := make(chan typedLine, 1)
	a.typed = typed
	go func() {
		text, err := readTyped(ctx, a.tty)
		typed <- typedLine{text, err}
	}()
	return true
}

// void drops calls that no longer wait.
func (a *asking) void(ctx context.Context, over func(*poddv1.Approval) bool) {
	if a.typed != nil && over(a.queue[0]) {
		a.withdraw()
		a.told.Answered(false)
	}
	a.queue = slices.DeleteFunc(a.queue, over)
	a.next(ctx)
}

// withdraw removes the question from the terminal and waits until its reader has ended.
func (a *asking) withdraw() {
	if a.typed != nil {
		a.stop()
		<-a.typed
		a.typed = nil
	}
}

// close withdraws the question.
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
	a.told.Answered(typed.err == nil)
	text, proposed := strings.TrimSpace(typed.text), a.proposed
	var answer view.Answer
	ok, again := false, false
	switch {
	case typed.err != nil:
	case proposed && text == "":
		answer, ok = view.Answer{Approve: true, Always: true}, true
	case proposed:
		again = a.ask(ctx)
	case strings.EqualFold(text, "v"):
		a.told.Arguments(view.ApprovalFromProto(w))
		again = a.ask(ctx)
	default:
		answer, ok = view.ParseAnswer(typed.text)
		again = ok && answer.Always && a.propose(ctx, w)
	}
	if again {
		return
	}
	a.queue = a.queue[1:]
	if ok {
		a.resolve(ctx, w, answer)
	} else {
		a.told.Say("the call still waits; " + view.ApprovalFromProto(w).HowTo(time.Now()))
	}
	a.next(ctx)
}

// propose shows the rule that always would add, and asks about it; or why there is none, and
// asks about the call again. It returns false without a terminal.
func (a *asking) propose(ctx context.Context, w *poddv1.Approval) bool {
	resp, err := a.client.Approvals().GetApprovalRule(ctx, &poddv1.GetApprovalRuleRequest{Pod: w.GetPod(), CallSeq: w.GetCallSeq()})
	if err != nil {
		a.told.Warn(err.Error())
		return a.ask(ctx)
	}
	a.told.Say("always adds the rule: " + view.Rule(wire.RuleFromProto(resp.GetRule())))
	a.proposed = a.prompt(ctx, "Add it, and run the call? [Enter] yes [Esc Enter] back:")
	return a.proposed
}

// resolve sends an answer.
func (a *asking) resolve(ctx context.Context, w *poddv1.Approval, answer view.Answer) {
	resp, err := a.client.Approvals().ResolveApproval(ctx, &poddv1.ResolveApprovalRequest{
		Pod: w.GetPod(), CallSeq: w.GetCallSeq(), Digest: w.GetDigest(), Client: clientName,
		Approve: answer.Approve, Always: answer.Always, Reason: valid(answer.Reason),
	})
	if err != nil {
		a.failed(ctx, w, err)
	} else if resp.GetRule() != nil {
		a.told.Say("rule added: " + view.Rule(wire.RuleFromProto(resp.GetRule())))
	}
}

// failed says why podd did not accept an answer.
func (a *asking) failed(ctx context.Context, w *poddv1.Approval, err error) {
	if ctx.Err() != nil {
		return
	}
	a.told.Warn(err.Error())
	// A call that still waits is asked about again: at once, or when podd is back.
	delete(a.seen, callKey(w))
	if item.KindOf(err) != item.KindUnavailable {
		a.findPending(ctx)
	}
}
