package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"podd/internal/clients/top"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// The values of --on-ask: what to do about a call that asks.
const (
	onAskWait = "wait"
	onAskDeny = "deny"
	onAskExit = "exit"
)

// asking asks the person at the terminal about the calls of a pod and its sub-pods that wait, one after
// the other. Without a terminal it prints each call and the commands that answer it.
type asking struct {
	client *client.Client
	// pod is the pod's id, name how the person calls it, requestID the followed prompt.
	pod, name, requestID string
	family               family
	// denied are the calls of sub-pods that were denied here, a line each: the turn's own are in its log.
	denied []string
	// onAsk is a value of --on-ask. unanswered is why podctl does not follow the turn further.
	onAsk      string
	unanswered error
	// once is that of the session, and stateDir names its podd.
	once     *onceOptions
	stateDir string
	// turn is the followed one.
	turn *view.Turn
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
	// replies are the answers to the first questions of the form that is on the terminal.
	replies []item.FormReply
}

// typedLine is what was typed behind a question.
type typedLine struct {
	text string
	err  error
}

// newAsking asks about calls that are shown after a sequence, and those that wait already. By
// default it waits for an answer if a person reads the question on a terminal.
func newAsking(s *session, pod string, turn *view.Turn, resp *poddv1.SubmitResponse, onAsk string) *asking {
	if _, read := terminal(s.stderr); onAsk == "" && read {
		onAsk = onAskWait
	}
	a := &asking{
		client: s.Client, pod: pod, name: s.pod, requestID: resp.GetRequestId(), turn: turn, told: turn, at: resp.GetSeq(), seen: make(map[string]bool),
		family: family{top: pod, calls: make(map[string]int64), waits: make(map[string]int64)}, onAsk: cmp.Or(onAsk, onAskExit), once: s.once, stateDir: s.at.StateDir,
	}
	if resp.GetQueued() {
		a.family.fleet = top.NewFleet() // The running turn may have sub-pods.
	}
	if s.output == outputJSON {
		a.beside = view.NewTurn(view.Console{Out: io.Discard, Err: s.stderr}, "")
		a.told = a.beside
		return a
	}
	if _, ok := terminal(s.stdin); ok && s.console().ErrTerminal && a.onAsk == onAskWait {
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
	own := func(w *poddv1.Approval) bool { return w.GetPod() == a.pod }
	switch {
	case e.GetApprovalRequested() != nil && a.live:
		a.findPending(ctx)
	case e.GetApprovalResolved() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return own(w) && w.GetCallId() == e.GetApprovalResolved().GetCallId() })
	case e.GetItem().GetToolResult() != nil:
		a.family.ended(e.GetItem().GetToolResult().GetCallId())
		a.void(ctx, func(w *poddv1.Approval) bool {
			return own(w) && w.GetCallId() == e.GetItem().GetToolResult().GetCallId()
		})
	case e.GetTurnEnded() != nil:
		a.void(ctx, func(w *poddv1.Approval) bool { return own(w) && w.GetTurn() == e.GetTurn() })
	case slices.Contains([]string{spawnTool, waitTool}, e.GetToolStarted().GetTool()):
		if a.family.started(e) {
			a.findInFamily(ctx)
		}
	}
	if a.family.due > 0 && a.at >= a.family.due {
		a.findInFamily(ctx)
	}
}

// changed looks at what the watch of all pods says.
func (a *asking) changed(ctx context.Context, m *poddv1.WatchResponse) {
	if a.family.take(m) {
		a.findInFamily(ctx)
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
		if w.GetCallSeq() <= a.at {
			a.add(w)
		}
	}
	a.next(ctx)
}

// findInFamily finds the calls of sub-pods that wait, and drops those that no longer do.
func (a *asking) findInFamily(ctx context.Context) {
	waits := make(map[string]bool)
	var found []*poddv1.Approval
	for _, pod := range a.family.waiting() {
		list, err := approvals(ctx, a.client, pod.GetId())
		switch {
		case err == nil || item.KindOf(err) == item.KindNotFound:
		case a.passing(ctx, err):
			return // The watch begins again.
		default:
			a.told.Warn("cannot list pending approvals of sub-pod " + sanitize.Line(pod.GetName()) + ": " + err.Error())
		}
		for _, w := range list {
			waits[callKey(w)] = true
			found = append(found, w)
		}
	}
	a.void(ctx, func(w *poddv1.Approval) bool { return w.GetPod() != a.pod && !waits[callKey(w)] })
	found = slices.DeleteFunc(found, func(w *poddv1.Approval) bool { return a.seen[callKey(w)] })
	if a.family.due = 0; len(found) == 0 {
		return
	}
	// The stream has to show first which turn called the sub-pod.
	got, err := a.client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: a.pod})
	if err != nil {
		return // The stream and the watch report it, and begin again.
	}
	if a.family.due = got.GetPod().GetLastSeq(); a.at < a.family.due {
		return
	}
	a.family.due = 0
	number, _ := a.turn.Ended()
	for _, w := range found {
		// A prompt in the queue waits for what the running turn waits for.
		if number == 0 || a.isOwn(w) {
			a.add(w)
		}
	}
	a.next(ctx)
}

// add queues a call that was not shown.
func (a *asking) add(w *poddv1.Approval) {
	if !a.seen[callKey(w)] {
		a.seen[callKey(w)] = true
		a.queue = append(a.queue, w)
	}
}

// callKey identifies a call with its current content.
func callKey(w *poddv1.Approval) string {
	return fmt.Sprintf("%s %d %s", w.GetPod(), w.GetCallSeq(), w.GetDigest())
}

// passing says that an error needs no message: the stream reports it, or nothing waits.
func (a *asking) passing(ctx context.Context, err error) bool {
	kind := item.KindOf(err)
	return ctx.Err() != nil || kind == item.KindUnavailable || kind == item.KindUnimplemented
}

// next goes through the queue until a question is on the terminal.
func (a *asking) next(ctx context.Context) {
	for a.typed == nil && len(a.queue) > 0 {
		w := a.queue[0]
		shown := view.ApprovalFromProto(w)
		if w.GetPod() == a.pod {
			a.told.Approval(shown)
		} else {
			a.told.ApprovalBelow(shown)
		}
		if a.ask(ctx) {
			continue
		}
		a.queue = a.queue[1:]
		if a.onAsk == onAskDeny && a.isOwn(w) {
			a.deny(ctx, w)
			continue
		}
		if a.onAsk == onAskWait || a.once == nil {
			a.told.Say(a.howTo(w))
		}
		// podd denies an expired call by itself.
		if a.onAsk != onAskWait && a.unanswered == nil && (shown.Expires.IsZero() || time.Now().Before(shown.Expires)) {
			a.unanswered = a.cannotAnswer(w)
		}
	}
}

// isOwn says whether a call is of the followed turn or of its sub-pods, and not of a turn that the submit waits for.
func (a *asking) isOwn(w *poddv1.Approval) bool {
	number, _ := a.turn.Ended()
	turn := w.GetTurn()
	if w.GetPod() != a.pod {
		turn = a.family.caller(w.GetPod())
	}
	return number != 0 && number == turn
}

// cannotAnswer is the error of a call that waits.
func (a *asking) cannotAnswer(w *poddv1.Approval) unansweredError {
	e := unansweredError{Approval: view.ApprovalFromProto(w), pod: a.name, subPod: w.GetPod() != a.pod, once: a.once, dir: a.stateDir}
	if number, _ := a.turn.Ended(); number == 0 {
		e.queued = a.requestID
	}
	return e
}

// howTo says how to answer.
func (a *asking) howTo(w *poddv1.Approval) string {
	return a.reaching(view.ApprovalFromProto(w).HowTo(time.Now()))
}

// reaching names the private podd in the commands of a text.
func (a *asking) reaching(text string) string {
	if a.once == nil {
		return text
	}
	return strings.ReplaceAll(text, "podctl ", "podctl --state-dir "+sanitize.Line(a.stateDir)+" ")
}

// deny denies a call, because no person is there to answer.
func (a *asking) deny(ctx context.Context, w *poddv1.Approval) {
	_, err := a.client.Approvals().ResolveApproval(ctx, &poddv1.ResolveApprovalRequest{
		Pod: w.GetPod(), CallSeq: w.GetCallSeq(), Digest: w.GetDigest(), Client: clientName,
		Reason: "no person is there to answer (--on-ask deny)",
	})
	if err == nil && w.GetForm() == nil {
		a.recordDenied(w)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	if item.KindOf(err) == item.KindUnavailable {
		delete(a.seen, callKey(w)) // The call is denied when podd is back.
		return
	}
	// Somebody may have answered first.
	list, listErr := approvals(ctx, a.client, w.GetPod())
	if listErr == nil && slices.ContainsFunc(list, func(now *poddv1.Approval) bool { return callKey(now) == callKey(w) }) {
		a.unanswered = err
	}
}

// recordDenied records a call of a sub-pod that was denied.
func (a *asking) recordDenied(w *poddv1.Approval) {
	if w.GetPod() != a.pod {
		a.denied = append(a.denied, sanitize.Line(w.GetTool()+" of sub-pod "+w.GetPodName()))
	}
}

// ask asks the question. It returns false without a terminal.
func (a *asking) ask(ctx context.Context) bool {
	if w := a.queue[0]; w.GetForm() != nil {
		a.replies = nil
		return len(w.GetForm().GetQuestions()) > 0 && a.prompt(ctx, view.ApprovalFromProto(w).Question(0))
	}
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
	if w.GetForm() != nil {
		a.answeredForm(ctx, w, typed)
		return
	}
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
		a.told.Say("the call still waits; " + a.howTo(w))
	}
	a.next(ctx)
}

// answeredForm takes what was typed behind a question of a form. The last one sends the answer.
func (a *asking) answeredForm(ctx context.Context, w *poddv1.Approval, typed typedLine) {
	form, text := wire.FormFromProto(w.GetForm()), strings.TrimSpace(typed.text)
	req := &poddv1.ResolveApprovalRequest{Pod: w.GetPod(), CallSeq: w.GetCallSeq(), Digest: w.GetDigest(), Client: clientName}
	switch {
	case typed.err != nil || text == "":
		a.told.Say("the call still waits; " + a.howTo(w))
		req = nil
	case strings.EqualFold(text, "d"):
		req.Dismiss = true
	default:
		a.replies = append(a.replies, view.ParseReply(form.Questions[len(a.replies)], valid(text)))
		if next := len(a.replies); next < len(form.Questions) && a.prompt(ctx, view.ApprovalFromProto(w).Question(next)) {
			return
		}
		req.Approve, req.Replies = true, wire.RepliesToProto(a.replies)
	}
	a.queue = a.queue[1:]
	if req != nil {
		if _, err := a.client.Approvals().ResolveApproval(ctx, req); err != nil {
			a.failed(ctx, w, err)
		}
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
	switch {
	case err != nil:
		a.failed(ctx, w, err)
	case resp.GetRule() != nil:
		a.told.Say("rule added: " + view.Rule(wire.RuleFromProto(resp.GetRule())))
	case !answer.Approve:
		a.recordDenied(w)
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
	switch {
	case item.KindOf(err) == item.KindUnavailable:
	case w.GetPod() == a.pod:
		a.findPending(ctx)
	default:
		a.findInFamily(ctx)
	}
}
