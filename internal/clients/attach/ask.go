package attach

import (
	"fmt"
	"strings"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// findPending finds the calls that wait.
func (a *app) findPending() {
	req := &poddv1.ListApprovalsRequest{Pod: a.pod.GetId()}
	ask(a.call, a.Client.Approvals().ListApprovals, req, func(resp *poddv1.ListApprovalsResponse, err error) {
		if err != nil {
			if kind := item.KindOf(err); kind != item.KindUnavailable && kind != item.KindUnimplemented {
				a.log.notice(yellow, "! cannot list pending approvals: "+err.Error())
			}
			return
		}
		a.waiting(resp.GetApprovals())
	})
}

// waiting asks about the calls that wait.
func (a *app) waiting(list []*poddv1.Approval) {
	if a.calls.take(list, a.prompt.draft.empty()) {
		text := "a call needs your approval"
		if len(list) > 0 && list[0].GetForm() != nil {
			text = "a call waits for your answer"
		}
		a.attract(text)
	}
}

// answers takes a draft that is one word of an answer for the answer to the open question, and
// says whether it is one. It counts at once if the question was there first.
func (a *app) answers() bool {
	if !a.calls.takes(&a.prompt.draft) {
		return false
	}
	if a.calls.facing == a.calls.questions[0] {
		a.decide()
	} else {
		a.said = "this answers the question: Enter sends it, Esc leaves it; a blank before it makes it a prompt"
	}
	return true
}

// decide sends the typed answer.
func (a *app) decide() {
	q := a.calls.questions[0]
	if q.shown.Form != nil {
		a.reply(q)
		return
	}
	if strings.EqualFold(strings.TrimSpace(a.calls.answer.text()), "v") && item.HideArguments(q.shown.Previews) {
		a.calls.answer.clear()
		q.raw = !q.raw
		return
	}
	answer, ok := view.ParseAnswer(a.calls.answer.text())
	if !ok {
		a.said = "not an answer; use " + view.Answers
		return
	}
	if answer.Approve && !q.whole() {
		a.said = "read all of it first: PgUp"
		return
	}
	a.calls.answer.clear()
	if answer.Always {
		a.propose(q, answer)
		return
	}
	a.resolve(q, answer)
}

// propose shows the rule that always would add, and asks before it is added.
func (a *app) propose(q *question, answer view.Answer) {
	a.begins("asking for the rule")
	req := &poddv1.GetApprovalRuleRequest{Pod: q.GetPod(), CallSeq: q.GetCallSeq()}
	ask(a.call, a.Client.Approvals().GetApprovalRule, req, func(resp *poddv1.GetApprovalRuleResponse, err error) {
		a.over()
		if err != nil {
			a.log.notice(yellow, "! "+err.Error())
			a.said = sanitize.Line(err.Error()) // A long question hides the transcript.
			return
		}
		a.confirming = &confirmation{
			about:    "always adds the rule: " + view.Rule(wire.RuleFromProto(resp.GetRule())),
			question: "Add this rule, and run the call?", enter: true, yes: func() { a.resolve(q, answer) },
		}
	})
}

// reply takes the answer to the next question of a form: the typed one, else the chosen options. The last one sends the answer.
func (a *app) reply(q *question) {
	text, chosen := strings.TrimSpace(a.calls.answer.text()), q.shown.At.Chosen()
	asked := q.asks()
	switch {
	case strings.EqualFold(text, "d"):
		a.calls.answer.clear()
		a.sendAnswer(q, &poddv1.ResolveApprovalRequest{Dismiss: true})
		return
	case asked == nil || text == "" && len(chosen) == 0:
		a.said = "not an answer; [Esc] answers later"
		return
	}
	reply := item.FormReply{Choices: chosen}
	if text != "" {
		reply = view.ParseReply(*asked, text)
	}
	if err := asked.Check(reply); err != nil {
		a.said = sanitize.Line(fmt.Sprintf("question %d %v", len(q.replies)+1, err))
		return
	}
	a.calls.answer.clear()
	if q.from(append(q.replies, reply)); q.asks() == nil {
		a.sendAnswer(q, &poddv1.ResolveApprovalRequest{Approve: true, Replies: wire.RepliesToProto(q.replies)})
		q.from(nil)
	}
}

// resolve sends a decision.
func (a *app) resolve(q *question, answer view.Answer) {
	a.sendAnswer(q, &poddv1.ResolveApprovalRequest{Approve: answer.Approve, Always: answer.Always, Reason: answer.Reason})
}

// sendAnswer sends an answer to a question.
func (a *app) sendAnswer(q *question, req *poddv1.ResolveApprovalRequest) {
	a.begins("sending the answer")
	req.Pod, req.CallSeq, req.Digest, req.Client = q.GetPod(), q.GetCallSeq(), q.GetDigest(), a.Name
	ask(a.send, a.Client.Approvals().ResolveApproval, req, func(resp *poddv1.ResolveApprovalResponse, err error) {
		a.over()
		if err != nil {
			a.log.notice(yellow, "! "+err.Error())
			a.findPending()
		} else if rule := resp.GetRule(); rule != nil {
			a.log.notice(dim, "· rule added: "+view.Rule(wire.RuleFromProto(rule)))
		}
	})
}

// toQuestion goes to the open question.
func (a *app) toQuestion(_ string) {
	if a.calls.answering = len(a.calls.questions) > 0; !a.calls.answering {
		a.said = "no call waits for an answer"
	}
}
