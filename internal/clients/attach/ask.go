package attach

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"podd/internal/clients/show"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// question is a call that waits for approval.
type question struct {
	*poddv1.Approval
	shown view.Approval
	// seen are its lines that were on the screen, when it was columns wide.
	seen    []bool
	columns int
	// raw says that the arguments are shown instead of the preview.
	raw bool
}

// key identifies a call with its current content.
func (q *question) key() string { return fmt.Sprintf("%d %s", q.GetCallSeq(), q.GetDigest()) }

// lines are exactly what will run.
func (q *question) lines(columns int) (lines []line) {
	lines = append([]line{nil}, show.Wrap(in(yellow, "? "+q.shown.Title()), nil, in(yellow, "  "), columns)...)
	for _, l := range q.shown.Shown(columns-2, q.raw) {
		lines = append(lines, show.With(in(bold, "  "), l.In(bold)))
	}
	if q.raw {
		return lines
	}
	if q.columns != columns || len(q.seen) != len(lines) {
		q.seen, q.columns = make([]bool, len(lines)), columns
	}
	return lines
}

// whole says whether all of the question was on the screen.
func (q *question) whole() bool { return len(q.seen) > 0 && !slices.Contains(q.seen, false) }

// findPending finds the calls that wait.
func (a *app) findPending() {
	var list []*poddv1.Approval
	pod := a.pod.GetId()
	a.call(func(ctx context.Context) error {
		resp, err := a.Client.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: pod})
		list = resp.GetApprovals()
		return err
	}, func(err error) {
		if err != nil {
			if kind := item.KindOf(err); kind != item.KindUnavailable && kind != item.KindUnimplemented {
				a.log.notice(yellow, "! cannot list pending approvals: "+err.Error())
			}
			return
		}
		a.waiting(list)
	})
}

// waiting asks about the calls that wait, and withdraws the questions about others. A
// draft is never used as an answer.
func (a *app) waiting(list []*poddv1.Approval) {
	before := a.questions
	a.questions = nil
	for _, w := range list {
		q := &question{Approval: w, shown: view.ApprovalFromProto(w)}
		if i := slices.IndexFunc(before, func(b *question) bool { return b.key() == q.key() }); i >= 0 {
			q = before[i]
		}
		a.questions = append(a.questions, q)
	}
	if len(a.questions) > 0 && len(before) == 0 {
		a.attract("a call needs your approval")
	}
	a.next(len(before) == 0)
}

// void withdraws questions about calls that no longer wait.
func (a *app) void(over func(*poddv1.Approval) bool) {
	if len(a.questions) == 0 {
		return
	}
	first := a.questions[0]
	a.questions = slices.DeleteFunc(a.questions, func(q *question) bool { return over(q.Approval) })
	a.next(len(a.questions) > 0 && a.questions[0] != first)
}

// next switches to the first question if it is a new one.
func (a *app) next(fresh bool) {
	switch {
	case len(a.questions) == 0:
		a.answering = false
		a.answer.clear()
	case fresh:
		a.answer.clear()
		a.answering, a.left = a.draft.empty(), false
	}
}

// attend goes to the open question once the draft that it did not take is gone.
func (a *app) attend() {
	if len(a.questions) > 0 && !a.left && a.draft.empty() {
		a.answering = true
	}
}

// face notes which question a draft that is about to begin is written in front of.
func (a *app) face() {
	if a.draft.empty() {
		a.facing = nil
		if len(a.questions) > 0 && a.questions[0].whole() {
			a.facing = a.questions[0]
		}
	}
}

// answers takes a draft that is one word of an answer for the answer to the open question, and
// says whether it is one. It counts at once if the question was there first.
func (a *app) answers() bool {
	if len(a.questions) == 0 || a.draft.text() != a.draft.whole() || strings.ContainsAny(a.draft.text(), " \n") {
		return false
	}
	if _, ok := view.ParseAnswer(a.draft.text()); !ok {
		return false
	}
	a.answer, a.answering = a.draft, true
	a.draft.clear()
	if a.facing == a.questions[0] {
		a.decide()
		return true
	}
	a.said = "this answers the question: Enter sends it, Esc leaves it; a blank before it makes it a prompt"
	return true
}

// decide sends the typed answer.
func (a *app) decide() {
	q := a.questions[0]
	if strings.EqualFold(strings.TrimSpace(a.answer.text()), "v") && item.HideArguments(q.shown.Previews) {
		a.answer.clear()
		q.raw = !q.raw
		return
	}
	answer, ok := view.ParseAnswer(a.answer.text())
	if !ok {
		a.said = "not an answer; use " + view.Answers
		return
	}
	if answer.Approve && !q.whole() {
		a.said = "read all of it first: PgUp"
		return
	}
	a.answer.clear()
	if answer.Always {
		a.propose(q, answer)
		return
	}
	a.resolve(q, answer)
}

// propose shows the rule that always would add, and asks before it is added.
func (a *app) propose(q *question, answer view.Answer) {
	var rule *poddv1.Rule
	a.said = "asking for the rule"
	a.call(func(ctx context.Context) error {
		resp, err := a.Client.Approvals().GetApprovalRule(ctx, &poddv1.GetApprovalRuleRequest{Pod: q.GetPod(), CallSeq: q.GetCallSeq()})
		rule = resp.GetRule()
		return err
	}, func(err error) {
		a.said = ""
		if err != nil {
			a.log.notice(yellow, "! "+err.Error())
			a.said = sanitize.Line(err.Error()) // A long question hides the transcript.
			return
		}
		a.confirming = &confirmation{
			about:    "always adds the rule: " + view.Rule(wire.RuleFromProto(rule)),
			question: "Add this rule, and run the call?", enter: true, yes: func() { a.resolve(q, answer) },
		}
	})
}

// resolve sends an answer.
func (a *app) resolve(q *question, answer view.Answer) {
	a.said = "sending the answer"
	var rule *poddv1.Rule
	a.send(func(ctx context.Context) error {
		resp, err := a.Client.Approvals().ResolveApproval(ctx, &poddv1.ResolveApprovalRequest{
			Pod: q.GetPod(), CallSeq: q.GetCallSeq(), Digest: q.GetDigest(), Client: a.Name,
			Approve: answer.Approve, Always: answer.Always, Reason: answer.Reason,
		})
		rule = resp.GetRule()
		return err
	}, func(err error) {
		a.said = ""
		if err != nil {
			a.log.notice(yellow, "! "+err.Error())
			a.findPending()
		} else if rule != nil {
			a.log.notice(dim, "· rule added: "+view.Rule(wire.RuleFromProto(rule)))
		}
	})
}

// toQuestion goes to the open question.
func (a *app) toQuestion(_ string) {
	if a.answering = len(a.questions) > 0; !a.answering {
		a.said = "no call waits for an answer"
	}
}
