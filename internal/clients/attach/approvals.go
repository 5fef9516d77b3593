package attach

import (
	"fmt"
	"slices"
	"strings"

	"podd/internal/clients/show"
	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// question is a call that waits for approval, or for an answer.
type question struct {
	*poddv1.Approval
	shown view.Approval
	// seen are its lines that were on the screen, when it was columns wide.
	seen    []bool
	columns int
	// raw says that the arguments are shown instead of the preview.
	raw bool
	// replies are the answers to the first questions of a form.
	replies []item.FormReply
}

// asks is the question of the form that is answered now; nil if the call asks no form, or all are answered.
func (q *question) asks() *item.FormQuestion {
	if q.shown.Form == nil || len(q.replies) == len(q.shown.Form.Questions) {
		return nil
	}
	return &q.shown.Form.Questions[len(q.replies)]
}

// from answers a form from a question on. Those before it have their replies.
func (q *question) from(replies []item.FormReply) {
	q.replies, q.shown.At = replies, &view.Cursor{Question: len(replies)}
}

// key identifies a call with its current content.
func (q *question) key() string { return fmt.Sprintf("%d %s", q.GetCallSeq(), q.GetDigest()) }

// lines are exactly what will run.
func (q *question) lines(columns int) (lines []line) {
	lines = append([]line{nil}, show.Wrap(in(yellow, "? "+q.shown.Title()), nil, in(yellow, "  "), columns)...)
	for _, l := range q.shown.Shown(columns-2, q.raw) {
		lines = append(lines, show.With(in(bold, "  "), l.In(bold)))
	}
	if q.asks() != nil {
		lines = append(lines, show.Wrap(in(yellow, "  "+q.shown.Question(len(q.replies))), nil, in(yellow, "  "), columns)...)
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

// approvals are the calls that wait, and the answer that is typed to the first of them.
type approvals struct {
	questions []*question
	answer    editor
	// answering says that typed text is an answer; left that the person has left the question.
	answering, left bool
	// facing is the question that was on the screen, as a whole, when the draft was begun.
	facing *question
	// screen is what the last frame had of the first question.
	screen onScreen
}

// take asks about the calls that wait, and withdraws the questions about others. It says whether the first one has
// come. free says that no draft is begun: a draft is never used as an answer.
func (c *approvals) take(list []*poddv1.Approval, free bool) (came bool) {
	before := c.questions
	c.questions = nil
	for _, w := range list {
		q := &question{Approval: w, shown: view.ApprovalFromProto(w)}
		q.from(nil)
		if i := slices.IndexFunc(before, func(b *question) bool { return b.key() == q.key() }); i >= 0 {
			q = before[i]
		}
		c.questions = append(c.questions, q)
	}
	c.next(len(before) == 0, free)
	return len(c.questions) > 0 && len(before) == 0
}

// void withdraws questions about calls that no longer wait.
func (c *approvals) void(over func(*poddv1.Approval) bool, free bool) {
	if len(c.questions) == 0 {
		return
	}
	first := c.questions[0]
	c.questions = slices.DeleteFunc(c.questions, func(q *question) bool { return over(q.Approval) })
	c.next(len(c.questions) > 0 && c.questions[0] != first, free)
}

// next switches to the first question if it is a new one.
func (c *approvals) next(fresh, free bool) {
	switch {
	case len(c.questions) == 0:
		c.answering = false
		c.answer.clear()
	case fresh:
		c.answer.clear()
		c.answering, c.left = free, false
	}
}

// attend goes to the open question once the draft that it did not take is gone.
func (c *approvals) attend(free bool) {
	if len(c.questions) > 0 && !c.left && free {
		c.answering = true
	}
}

// face notes which question a draft that is about to begin is written in front of.
func (c *approvals) face(free bool) {
	if free {
		c.facing = nil
		if len(c.questions) > 0 && c.questions[0].whole() {
			c.facing = c.questions[0]
		}
	}
}

// takes makes a draft the answer to the open question if it is one word of an answer.
func (c *approvals) takes(draft *editor) bool {
	if len(c.questions) == 0 || draft.text() != draft.whole() || strings.ContainsAny(draft.text(), " \n") {
		return false
	}
	form := c.questions[0].shown.Form
	if _, ok := view.ParseAnswer(draft.text()); form == nil && !ok || form != nil && !strings.Contains("123456789dD", draft.text()) {
		return false
	}
	c.answer, c.answering = *draft, true
	draft.clear()
	return true
}

// choose moves between the options of the open question, or marks one; false if the key does neither.
func (c *approvals) choose(k key) bool {
	if !c.answering {
		return false
	}
	q := c.questions[0]
	asked := q.asks()
	space := k.kind == keyText && k.text == " " && c.answer.empty()
	return asked != nil && q.shown.At.Press(*asked, k.kind == keyUp, k.kind == keyDown, space)
}

// onScreen is the part of a question that a frame has.
type onScreen struct {
	q                   *question
	columns, from, upTo int
	// since is how often the terminal had been written to when the frame was made.
	since int64
}

// shows notes what the next frame has of a question. If it is the same as before, the frame
// may need no painting.
func (c *approvals) shows(now onScreen) {
	if now.since = c.screen.since; now != c.screen {
		now.since = -1
		c.screen = now
	}
}

// framed says that the frame is made.
func (c *approvals) framed(painted int64) {
	if c.screen.since < 0 {
		c.screen.since = painted
	}
}

// sees marks as seen what a frame had of a question, if the terminal has painted it.
func (c *approvals) sees(painted int64) {
	s := c.screen
	if s.q == nil || s.since < 0 || s.q.columns != s.columns || painted == s.since {
		return
	}
	for i := s.from; i < min(s.upTo, len(s.q.seen)); i++ {
		s.q.seen[i] = true
	}
}

// wholly says whether nothing of the first question is left to be shown.
func (c *approvals) wholly() bool {
	q := c.questions[0]
	for i, seen := range q.seen {
		if !seen && (c.screen.q != q || i < c.screen.from || i >= c.screen.upTo) {
			return false
		}
	}
	return len(q.seen) > 0
}
