package worker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// maxQuestion bounds what is shown of why a call asks, in bytes.
const maxQuestion = 2000

// digest is the SHA-256 of exactly what a call will run: where, what tool, with what
// arguments. The parts are separated by a byte that none of them has.
func (t *run) digest(c *call) string {
	sum := sha256.Sum256([]byte(t.Dir + "\x00" + c.Name + "\x00" + c.arguments))
	return string(sum[:])
}

// start is what the log is told before a call goes on: that a person is asked, or that
// it begins. A call that does not run has neither.
func (t *run) start(c *call) []item.Kind {
	switch {
	case c.refused != nil || c.made != nil:
		return nil
	case len(c.questions) == 0:
		return []item.Kind{item.ToolStarted{CallID: c.CallID, Tool: c.Name, Arguments: c.arguments}}
	}
	why := strings.Join(c.questions, "; ")
	if len(why) > maxQuestion {
		why = tool.Repair(why[:maxQuestion]) + "…"
	}
	c.request = &item.ApprovalRequested{
		CallID: c.CallID, Tool: c.Name, Arguments: c.arguments,
		Digest: t.digest(c), Question: why, Expires: t.Now().Add(t.ApprovalTime).UTC(),
	}
	c.resolved = nil
	return []item.Kind{*c.request, item.AlertRaised{Alert: item.Alert{
		Pod: t.Pod, Level: item.LevelWarn, Source: "approval", Reason: item.ReasonApprovalWaits, Time: t.Now(),
		Text: fmt.Sprintf("%s waits for approval: %s (podctl approvals shows it)", c.Name, why),
	}}}
}

// await waits for the answer to a call's question. It is no answer that the turn ends:
// then the error says why.
func (t *run) await(c *call) (item.ApprovalResolved, error) {
	if c.resolved != nil {
		return *c.resolved, nil
	}
	return t.log.Approval(t.waiting, c.CallID)
}

// answered goes on with a call whose question has an answer. After a yes interceptors
// and policy are asked again, for what runs is what they say now; a call that they
// changed asks again. It returns what the log has to be told before the call goes on.
func (t *run) answered(ctx context.Context, c *call, r item.ApprovalResolved) []item.Kind {
	agreed := c.request.Digest
	c.request = nil
	if !r.Approved {
		c.refuse("%s: not run: denied by %s%s", c.Name, r.By, because(r.Reason))
		return nil
	}
	t.decide(ctx, c)
	switch same := t.digest(c) == agreed; {
	case same:
		c.questions, c.approved = nil, true
	case len(c.questions) == 0:
		c.questions = []string{"the call was changed after it was approved"}
	}
	return t.start(c)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
