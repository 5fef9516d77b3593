package attach

import (
	"context"
	"fmt"
	"slices"

	"podd/internal/clients/view"
	"podd/internal/wire"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// question is a call that waits for a person.
type question struct {
	*poddv1.Approval
	shown view.Approval
	// seen are its lines that were on the screen, at so many columns.
	seen    []bool
	columns int
}

// key tells a call, as it stands, from all others.
func (q *question) key() string { return fmt.Sprintf("%d %s", q.GetCallSeq(), q.GetDigest()) }

// lines are exactly what will run.
func (q *question) lines(columns int) (lines []line) {
	lines = []line{{}, {view.Fit("? "+q.shown.Title(), columns), yellow}}
	for _, l := range q.shown.Lines(columns - 2) {
		lines = append(lines, line{"  " + l, bold})
	}
	if q.columns != columns || len(q.seen) != len(lines) {
		q.seen, q.columns = make([]bool, len(lines)), columns
	}
	return lines
}

// whole says whether all of it was on the screen.
func (q *question) whole() bool { return len(q.seen) > 0 && !slices.Contains(q.seen, false) }

// look finds the calls that wait.
func (a *app) look() {
	var list []*poddv1.Approval
	a.call(func(ctx context.Context) error {
		resp, err := a.Client.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: a.pod.GetId()})
		list = resp.GetApprovals()
		return err
	}, func(err error) {
		if err != nil {
			if kind := item.KindOf(err); kind != item.KindUnavailable && kind != item.KindUnimplemented {
				a.log.notice(yellow, "! which calls wait for approval cannot be told: "+err.Error())
			}
			return
		}
		a.waiting(list)
	})
}

// waiting puts the calls that wait before the person, and takes back those that do not.
// A draft is not taken for an answer.
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
	a.next(len(before) == 0)
}

// void takes questions back that wait no more.
func (a *app) void(over func(*poddv1.Approval) bool) {
	if len(a.questions) == 0 {
		return
	}
	first := a.questions[0]
	a.questions = slices.DeleteFunc(a.questions, func(q *question) bool { return over(q.Approval) })
	a.next(len(a.questions) > 0 && a.questions[0] != first)
}

// next turns to the first question when it is a new one.
func (a *app) next(fresh bool) {
	switch {
	case len(a.questions) == 0:
		a.answering = false
		a.answer.clear()
	case fresh:
		a.answer.clear()
		a.answering = a.draft.empty()
	}
}

// decide does what was typed behind the question.
func (a *app) decide() {
	q := a.questions[0]
	answer, ok := view.ParseAnswer(a.answer.text())
	if !ok {
		a.said = "no answer: " + view.Answers
		return
	}
	if answer.Approve && !q.whole() {
		a.said = "see all of it first: PgUp"
		return
	}
	a.answer.clear()
	a.said = "answering"
	var rule *poddv1.Rule
	a.call(func(ctx context.Context) error {
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
			a.look()
		} else if rule != nil {
			a.log.notice(dim, "· rule added: "+ruleText(wire.RuleFromProto(rule)))
		}
	})
}

func ruleText(r item.Rule) string {
	text := r.Decision
	for _, part := range [][2]string{{"tool", r.Tool}, {"path", r.Path}, {"command", r.Command}, {"host", r.Host}} {
		if part[1] != "" {
			text += fmt.Sprintf(", %s %q", part[0], part[1])
		}
	}
	return text
}
