package spec

import (
	"slices"

	"podd/pkg/item"
)

// calls checks tool calls, their questions and their results.
type calls struct {
	*findings
	// ids are those of all calls.
	ids map[string]struct{}
	// open are the calls without a result, in order.
	open []*call
	// asked is the question that the last entry asks; 0 without one.
	asked item.Seq
	// answered are the places of calls and of their results, in the order of the results, without what was undone.
	answered []span
}

// call is a call without a result.
type call struct {
	item.ToolCall
	seq  item.Seq
	turn int64
	// stored says that its whole answer is, with its bill.
	stored bool
	// start is the last one; nil if the call did not begin, as far as is known. began says that the log has a start.
	start *item.ToolStarted
	began bool
	// recovers says that a later podd found it started.
	recovers bool
	// questions are the last ones, by their keys: that of the approval is empty.
	questions map[string]*question
}

type question struct {
	item.ApprovalRequested
	answer *item.ApprovalResolved
}

func newCalls(f *findings) calls { return calls{findings: f, ids: make(map[string]struct{})} }

func (c *calls) of(id string) *call {
	i := slices.IndexFunc(c.open, func(o *call) bool { return o.CallID == id })
	if i < 0 {
		return nil
	}
	return c.open[i]
}

func (c *calls) add(e item.Entry) {
	if a, ok := e.Kind.(item.AlertRaised); c.asked > 0 && (!ok || a.Alert.Reason != item.ReasonApprovalWaits) {
		c.fail(asksTell, "no alert follows the question #%d", c.asked)
	}
	c.asked = 0
	switch k := e.Kind.(type) {
	case item.ItemAdded:
		c.item(e, k.Item)
	case item.RequestUsage:
		if k.Purpose == "" {
			for _, o := range c.open {
				o.stored = true
			}
		}
	case item.ToolStarted:
		c.start(e, k)
	case item.ApprovalRequested:
		c.asked = e.Seq
		c.ask(k)
	case item.ApprovalResolved:
		c.answer(k)
	case item.Recovered:
		c.recover(k)
	case item.TurnEnded, item.Rewind:
		if len(c.open) > 0 {
			c.fail(callsEnd, "the call %s (#%d) has no result", c.open[0].CallID, c.open[0].seq)
		}
		c.open = nil
		if k, ok := k.(item.Rewind); ok {
			c.rewind(k.To)
		}
	}
}

func (c *calls) item(e item.Entry, it item.Item) {
	if r, ok := it.(item.ToolResult); ok {
		c.result(e, r)
		return
	}
	if len(c.open) > 0 && c.open[0].stored {
		c.fail(resultsFirst, "an item joins before the result of the call %s (#%d)", c.open[0].CallID, c.open[0].seq)
	}
	k, ok := it.(item.ToolCall)
	if !ok {
		return
	}
	if _, ok := c.ids[k.CallID]; ok {
		c.fail(callUnique, "the id %s is that of an earlier call", k.CallID)
	}
	c.ids[k.CallID] = struct{}{}
	c.open = append(c.open, &call{ToolCall: k, seq: e.Seq, turn: e.Turn})
}

func (c *calls) result(e item.Entry, r item.ToolResult) {
	i := slices.IndexFunc(c.open, func(o *call) bool { return o.CallID == r.CallID })
	if i < 0 {
		c.fail(resultOnce, "no call %s waits for a result", r.CallID)
		return
	}
	o := c.open[i]
	if r.Recovery != "" && !o.began {
		c.fail(learnsStarted, "the result of the call %s says %s, and the call did not start", r.CallID, r.Recovery)
	}
	if q := o.questions[""]; q != nil && q.answer != nil && !q.answer.Approved && !r.Denied {
		c.fail(denialTold, "%s denied the call %s, and its result does not say so", q.answer.By, r.CallID)
	}
	c.open = slices.Delete(c.open, i, i+1)
	c.answered = append(c.answered, span{o.seq, e.Seq})
}

func (c *calls) start(e item.Entry, k item.ToolStarted) {
	o := c.of(k.CallID)
	if o == nil || !o.stored || o.turn != e.Turn || o.Name != k.Tool {
		c.fail(startsStored, "the turn has no call %s of %s that can start", k.CallID, k.Tool)
		return
	}
	if o.start != nil && (o.recovers || slices.Equal(o.start.Planned, k.Planned)) {
		c.fail(startsOnce, "the call %s starts again", k.CallID)
	}
	q := o.questions[""]
	switch {
	case q == nil:
	case q.answer == nil:
		c.fail(startsAllowed, "the call %s starts before it is approved", k.CallID)
	case !q.answer.Approved:
		c.fail(startsAllowed, "the call %s starts, and %s denied it", k.CallID, q.answer.By)
	case k.Arguments != q.Arguments || k.Tool != q.Tool || len(q.Digest) != digestLen:
		c.fail(startsAsApproved, "the call %s starts with other arguments than those that %s approved", k.CallID, q.answer.By)
	}
	o.start, o.began = &k, true
}

// digestLen is the length of a SHA-256, in bytes.
const digestLen = 32

func (c *calls) ask(k item.ApprovalRequested) {
	o := c.of(k.CallID)
	if o == nil || !o.stored || k.Form != nil && !o.began {
		c.fail(asksOfCall, "the turn has no call %s that can ask", k.CallID)
		return
	}
	if o.questions == nil {
		o.questions = make(map[string]*question)
	}
	k.Previews = nil
	o.questions[k.Key] = &question{ApprovalRequested: k}
	if k.Form == nil {
		o.start = nil // It was changed before it did anything.
	}
}

func (c *calls) answer(k item.ApprovalResolved) {
	var q *question
	if o := c.of(k.CallID); o != nil {
		q = o.questions[k.Key]
	}
	if q == nil || q.answer != nil {
		c.fail(answersOpen, "no question of the call %s is open", k.CallID)
		return
	}
	q.answer = &k
	switch answered := q.Form != nil && k.Approved; {
	case !answered && len(k.Replies) > 0:
		c.fail(repliesFit, "the answer to the call %s has replies, and answers no form", k.CallID)
	case answered:
		if err := q.Form.Check(k.Replies); err != nil {
			c.fail(repliesFit, "the answer to the call %s does not fit its form: %v", k.CallID, err)
		}
	}
}

func (c *calls) recover(k item.Recovered) {
	var started []string
	for _, o := range c.open {
		if o.start != nil {
			started = append(started, o.CallID)
			o.recovers = true
		}
	}
	if !slices.Equal(started, k.CallIDs) {
		c.fail(recoversStarted, "it names the calls %q, and %q started without a result", k.CallIDs, started)
	}
}

// rewind checks that a place separates no call from its result.
func (c *calls) rewind(to item.Seq) {
	n := cut(c.answered, to, func(s span) item.Seq { return s.at })
	for _, s := range c.answered[n:] {
		if s.after <= to {
			c.fail(callsEnd, "#%d is between the call #%d and its result", to, s.after)
			break
		}
	}
	c.answered = c.answered[:n]
}
