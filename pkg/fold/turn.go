package fold

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
)

// Turn is the state of a pod's last turn: everything that an open one needs to continue.
type Turn struct {
	// Number is that of the turn, 0 before the first; Open says that it has no terminal entry.
	Number int64
	Open   bool
	// Plan says that it only plans, NoQuestions that nobody answers questions in it.
	Plan, NoQuestions bool
	// Wanted is what the last answer must be; zero once the turn has ended, unless it was
	// interrupted.
	Wanted Wanted
	// Began is the entry that began it.
	Began item.Seq
	// RequestIDs are the submits that the open turn began with.
	RequestIDs []string
	// Resuming says that the turn was resumed and has not progressed since. Resumes counts
	// how often it was resumed since its last answer after it was cut short while it worked.
	Resuming bool
	Resumes  int
	// Outcome is how the turn ended, and Cause why, as in [item.TurnEnded]; empty while it is open.
	Outcome item.Outcome
	Cause   string
	Asked
	// Step is the last answered model request.
	Step int
	// Spent is what the turn used. Requests counts its own, without those of sub-pods.
	Spent     Spent
	Requests  int
	ToolCalls int
	// SentBack counts how often interceptors kept the turn from finishing.
	SentBack int
	// Calls are those without a result, in the order of the log.
	Calls []Call
	// Questions are those that the turn asked, including answered ones, in the order of the
	// log.
	Questions []Question
	// Answer has the texts of the last answer. HasCalls says that it has calls, Final that
	// it has text and none, and that nothing was added since. Silent counts the last answers
	// in a row that have neither.
	Answer          []string
	HasCalls, Final bool
	Silent          int
	// Promoted says that submits joined since.
	Promoted bool
	// Aborted says which interceptor ended the turn at a call, and why.
	Aborted string
	Repeats Repeats
}

// Asked is which model a turn asks.
type Asked struct {
	// Choice is the model and the effort that its submit chose.
	Choice item.Choice
	// Fallback is the model that the turn fell back to, as its setup names it; zero without
	// a fallback. Falling says that it is about to fall back.
	Fallback item.ModelRef
	Falling  bool
}

// Wanted is what the last answer of a turn must be.
type Wanted struct {
	// Schema is the JSON Schema that it must match; empty without one. Mismatches counts the
	// last answers that did not.
	Schema     string
	Mismatches int
}

// Call is a call without a result, as the log shows it.
type Call struct {
	item.ToolCall
	// Seq is the call's entry.
	Seq item.Seq
	// Started is set once the call may have had effects.
	Started *item.ToolStarted
	// Began is when.
	Began time.Time
}

// Question is a call that waits, or waited, for a person: for an approval, or with a form for an answer.
type Question struct {
	item.ApprovalRequested
	// CallSeq is the call's entry; 0 for a call that the turn does not have.
	CallSeq item.Seq
	Turn    int64
	// Answer is nil until it is answered.
	Answer *item.ApprovalResolved
	// Asked is when the call asked. Closed is when it was answered, or when its call ended
	// without an answer; zero while the question is open.
	Asked, Closed time.Time
}

// IsOpen says whether a person can still answer.
func (q *Question) IsOpen() bool { return q.Closed.IsZero() }

// Expired says whether the time to answer was over at a given time.
func (q *Question) Expired(at time.Time) bool { return !q.Expires.IsZero() && !at.Before(q.Expires) }

// Question is the last one whether a call may run, or nil.
func (t *Turn) Question(callID string) *Question {
	return t.question(func(q *Question) bool { return q.CallID == callID && q.Form == nil })
}

// Form is the last form of a call with a key, or nil.
func (t *Turn) Form(callID, key string) *Question {
	return t.question(func(q *Question) bool { return q.CallID == callID && q.Form != nil && q.Key == key })
}

// QuestionAt is the last one of either kind of the call of an entry, or nil.
func (t *Turn) QuestionAt(callSeq item.Seq) *Question {
	return t.question(func(q *Question) bool { return q.CallSeq == callSeq })
}

func (t *Turn) question(is func(*Question) bool) *Question {
	for i := range slices.Backward(t.Questions) {
		if q := &t.Questions[i]; is(q) {
			return q
		}
	}
	return nil
}

// Asks counts what waits for a person, and the forms of that.
func (t *Turn) Asks() (all, forms int) {
	for _, q := range t.Questions {
		if t.Open && q.IsOpen() {
			all++
			if q.Form != nil {
				forms++
			}
		}
	}
	return all, forms
}

// Waits says whether a call waits for a person.
func (t *Turn) Waits(callID string) bool {
	return t.question(func(q *Question) bool { return q.CallID == callID && q.IsOpen() }) != nil
}

// HasCall says whether a call has no result yet.
func (t *Turn) HasCall(id string) bool { return t.call(id) >= 0 }

// Text is the text of the last answer.
func (t *Turn) Text() string { return strings.Join(t.Answer, "\n\n") }

// LastText is the last text of the last answer: some models send remarks before it.
func (t *Turn) LastText() string {
	if len(t.Answer) == 0 {
		return ""
	}
	return t.Answer[len(t.Answer)-1]
}

func (t *Turn) call(id string) int {
	return slices.IndexFunc(t.Calls, func(c Call) bool { return c.CallID == id })
}

// SourceFallback marks the alert that precedes the setup of a fallback. Only this alert
// distinguishes such a setup from one of the pod's own model.
const SourceFallback = "fallback"

// add folds entries that concern only the turn.
func (t *Turn) add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.TurnEnded:
		t.closeQuestions(e.Time, nil, func(q *Question) bool { return true })
		t.Open, t.Resuming, t.RequestIDs, t.Calls, t.Repeats = false, false, nil, nil, Repeats{}
		t.Outcome, t.Cause = k.Outcome, k.Cause
		if k.Outcome != item.OutcomeInterrupted {
			t.Wanted = Wanted{}
		}
	case item.AlertRaised:
		t.Falling = t.Falling || k.Alert.Source == SourceFallback
	case item.Setup:
		if t.Falling {
			t.Fallback, t.Falling = k.ModelRef(), false
		}
	case item.Promoted:
		t.Promoted = true
	case item.Recovered:
		t.Resuming, t.Falling = true, false
		if !k.Waited {
			t.Resumes++
		}
	case item.ToolStarted:
		t.started(e.Time, k)
	case item.ApprovalRequested:
		t.asked(e, k)
	case item.ApprovalResolved:
		t.closeQuestions(e.Time, &k, func(q *Question) bool { return q.CallID == k.CallID && q.Key == k.Key })
	case item.Submitted, item.Withdrawn, item.WingEntry, item.UnknownKind:
		// The store has the inbox.
	}
}

func (t *Turn) started(at time.Time, k item.ToolStarted) {
	if i := t.call(k.CallID); i >= 0 {
		t.Calls = slices.Clone(t.Calls)
		t.Calls[i].Started, t.Calls[i].Began = &k, at
	}
}

func (t *Turn) asked(e item.Entry, k item.ApprovalRequested) {
	t.closeQuestions(e.Time, nil, func(q *Question) bool { return q.CallID == k.CallID && q.Key == k.Key })
	q := Question{ApprovalRequested: k, Turn: e.Turn, Asked: e.Time}
	if i := t.call(k.CallID); i >= 0 {
		q.CallSeq = t.Calls[i].Seq
		if k.Form == nil {
			// A call that asks whether it may run after its start was changed before it did anything.
			t.Calls = slices.Clone(t.Calls)
			t.Calls[i].Started = nil
		}
	}
	t.Questions = append(slices.Clip(t.Questions), q)
}

// closeQuestions closes the open questions that are so.
func (t *Turn) closeQuestions(at time.Time, answer *item.ApprovalResolved, are func(*Question) bool) {
	open := func(q Question) bool { return q.IsOpen() && are(&q) }
	if !slices.ContainsFunc(t.Questions, open) {
		return
	}
	t.Questions = slices.Clone(t.Questions)
	for i := range t.Questions {
		if q := &t.Questions[i]; open(*q) {
			q.Answer, q.Closed = answer, at
			if answer == nil {
				q.Previews = nil
			}
		}
	}
}

// forget drops what a call with a result would have made of files.
func (t *Turn) forget(callID string) {
	if q := t.Question(callID); q != nil && q.Previews != nil {
		t.Questions = slices.Clone(t.Questions)
		t.Question(callID).Previews = nil
	}
}

// billed records a request. That of a step comes after the items of its answer.
func (t *Turn) billed(u item.RequestUsage, models Models) {
	t.Resuming = false
	t.Spent.Add(u, models)
	if u.Purpose != item.PurposeSubPod {
		t.Requests += int(u.Usage.Requests)
	}
	if u.Purpose != "" {
		return
	}
	t.Step, t.Resumes = u.Step, 0
	if t.HasCalls || strings.TrimSpace(t.Text()) != "" {
		t.Silent = 0
	} else {
		t.Silent++
	}
	t.Final, t.HasCalls, t.Promoted = !t.HasCalls && t.Silent == 0, false, false
}

func (t *Turn) added(e item.Entry, it item.Item) {
	switch it := it.(type) {
	case item.Reasoning:
	case item.AssistantMessage:
		t.Answer = append(slices.Clip(t.Answer), it.Text)
	case item.ToolCall:
		t.HasCalls = true
		t.ToolCalls++
		t.Calls = append(slices.Clip(t.Calls), Call{ToolCall: it, Seq: e.Seq})
	case item.ToolResult:
		t.result(e.Time, it)
	case item.SystemMessage:
		if it.Origin == item.OriginLoop {
			t.Repeats.Noted = t.Step
		}
		if it.Origin == item.OriginAnswerSchema && t.Final {
			t.Wanted.Mismatches++
		}
		t.news(!it.FromNote() && it.Origin != item.OriginAnswerSchema)
	default:
		t.news(true)
	}
}

// news is something new for the model. After a last answer, text that is from neither a
// client's note nor a submit is from an interceptor that keeps the turn from finishing.
func (t *Turn) news(mayKeep bool) {
	if t.Final && mayKeep && !t.Promoted {
		t.SentBack++
	}
	t.Answer, t.Final = nil, false
}

func (t *Turn) result(at time.Time, r item.ToolResult) {
	t.Resuming = false
	t.closeQuestions(at, nil, func(q *Question) bool { return q.CallID == r.CallID })
	t.forget(r.CallID)
	i := t.call(r.CallID)
	if i < 0 {
		return
	}
	c := t.Calls[i]
	t.Calls = slices.Delete(slices.Clone(t.Calls), i, i+1)
	t.Answer = nil
	t.Aborted = cmp.Or(t.Aborted, r.Aborted)
	arguments := c.Arguments
	if c.Started != nil {
		arguments = c.Started.Arguments
	}
	t.Repeats = t.Repeats.with(t.Step, c.Name, arguments, r.Output)
}
