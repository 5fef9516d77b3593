package pod

import (
	"cmp"
	"slices"
	"time"

	"podd/pkg/item"
)

// question is a call that asks a person, or asked. It belongs to the pod's goroutine;
// done alone is for others.
type question struct {
	Approval
	// answer is nil while nobody has answered.
	answer *item.ApprovalResolved
	// answered is when it was, or when its call ended without an answer.
	answered time.Time
	// done is closed once the question is no longer open.
	done chan struct{}
}

func (q *question) open() bool { return q.answered.IsZero() }

// expired says whether the time to answer was over at a time.
func (q *question) expired(at time.Time) bool { return !at.Before(q.Expires) }

func (q *question) close(at time.Time, answer *item.ApprovalResolved) {
	if q.open() {
		q.answer, q.answered = answer, at
		close(q.done)
	}
}

// questions are those of a pod's last turn, by the id of the call.
type questions struct {
	calls map[string]item.Seq
	asked map[string]*question
}

func newQuestions() questions {
	return questions{calls: make(map[string]item.Seq), asked: make(map[string]*question)}
}

// asked is a question in a base.
type asked struct {
	Approval
	Answer   *item.ApprovalResolved
	Answered time.Time
}

// all are the questions in the order of their calls.
func (q *questions) all() []asked {
	var all []asked
	for _, one := range q.asked {
		all = append(all, asked{one.Approval, one.answer, one.answered})
	}
	slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(a.CallSeq, b.CallSeq) })
	return all
}

// questionsOf are those that all gave.
func questionsOf(all []asked) questions {
	q := newQuestions()
	for _, one := range all {
		q.calls[one.CallID] = one.CallSeq
		was := &question{Approval: one.Approval, done: make(chan struct{})}
		if !one.Answered.IsZero() {
			was.close(one.Answered, one.Answer)
		}
		q.asked[one.CallID] = was
	}
	return q
}

// add folds a committed entry in.
func (q *questions) add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.TurnStarted, item.Rewind:
		*q = newQuestions()
	case item.ApprovalRequested:
		if old := q.asked[k.CallID]; old != nil {
			old.close(e.Time, nil)
		}
		q.asked[k.CallID] = &question{
			Approval: Approval{Turn: e.Turn, CallSeq: q.calls[k.CallID], Time: e.Time, ApprovalRequested: k},
			done:     make(chan struct{}),
		}
	case item.ApprovalResolved:
		if asked := q.asked[k.CallID]; asked != nil {
			asked.close(e.Time, &k)
		}
	case item.ItemAdded:
		switch it := k.Item.(type) {
		case item.ToolCall:
			q.calls[it.CallID] = e.Seq
		case item.ToolResult:
			if asked := q.asked[it.CallID]; asked != nil {
				asked.close(e.Time, nil)
			}
		}
	}
}

// waiting are the calls of a pod that wait for a person.
func (q *questions) waiting(id, name string) []Approval {
	var out []Approval
	for _, one := range q.asked {
		if one.open() {
			found := one.Approval
			found.Pod, found.PodName = id, name
			out = append(out, found)
		}
	}
	return out
}

// bySeq finds the question about the call of an entry.
func (q *questions) bySeq(seq item.Seq) *question {
	for id, at := range q.calls {
		if at == seq {
			return q.asked[id]
		}
	}
	return nil
}
