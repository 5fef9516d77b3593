package pod

import (
	"podd/pkg/fold"
)

// waiting are the calls of a pod that wait for a person.
func waiting(t *fold.Turn, id, name string) []Approval {
	var out []Approval
	for _, q := range t.Questions {
		if q.IsOpen() {
			out = append(out, Approval{
				Pod: id, PodName: name, Turn: q.Turn, CallSeq: q.CallSeq, Time: q.Asked, ApprovalRequested: q.ApprovalRequested,
			})
		}
	}
	return out
}

// showQuestions lets those who list approvals see which calls wait, without asking the pod,
// and wakes whoever waits for a question that is closed.
func (a *actor) showQuestions() {
	now := waiting(&a.state.Turn, a.id, a.rec.Name)
	if shown := a.asking.Load(); shown == nil || len(now)+len(*shown) > 0 {
		a.asking.Store(&now)
	}
	for id, closed := range a.waiters {
		if q := a.state.Turn.Question(id); q == nil || !q.IsOpen() {
			close(closed)
			delete(a.waiters, id)
		}
	}
}

// closed is closed once the question about a call is; nil says that it is already.
func (a *actor) closed(callID string) <-chan struct{} {
	if q := a.state.Turn.Question(callID); q == nil || !q.IsOpen() {
		return nil
	}
	if a.waiters[callID] == nil {
		a.waiters[callID] = make(chan struct{})
	}
	return a.waiters[callID]
}
