package pod

import (
	"context"
	"slices"
	"time"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// InboxItem is a submit that waits.
type InboxItem struct {
	// Seq is the sequence of its submitted entry.
	Seq       item.Seq
	RequestID string
	Mode      item.SubmitMode
	// Text is the user message's text as the model will see it.
	Text string
	Time time.Time
}

// Inbox are the submits that wait for a pod, the oldest first.
func (h *Host) Inbox(ctx context.Context, idOrName string) ([]InboxItem, error) {
	rec, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	waiting, err := h.Store.Inbox(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	var items []InboxItem
	for _, w := range waiting {
		e, err := wire.DecodeEntry(w.Entry)
		if err != nil {
			return nil, damaged(rec.ID, w.Seq, err)
		}
		if s, ok := e.Kind.(item.Submitted); ok {
			items = append(items, InboxItem{Seq: w.Seq, RequestID: s.RequestID, Mode: s.Mode, Text: s.Text, Time: e.Time})
		}
	}
	return items, nil
}

// Withdraw removes a submit that waits. One that a turn has taken is KindPrecondition,
// reason TAKEN.
func (h *Host) Withdraw(ctx context.Context, idOrName, requestID string) error {
	a, release, err := h.acquire(ctx, idOrName)
	if err != nil {
		return err
	}
	defer release()
	doErr := a.do(ctx, func() { err = a.withdraw(ctx, requestID) })
	if doErr != nil {
		return doErr
	}
	return err
}

func (a *actor) withdraw(ctx context.Context, requestID string) error {
	i := slices.IndexFunc(a.inbox, func(s worker.Submit) bool { return s.RequestID == requestID })
	if i < 0 {
		return item.Errorf(item.KindNotFound, "NOT_WAITING", "no submit with request id %q waits for pod %s: podctl inbox lists those that do", requestID, a.rec.Name)
	}
	seq := a.inbox[i].Seq
	if a.taken[seq] {
		return item.Errorf(item.KindPrecondition, "TAKEN", "the submit %q is being taken by a turn: cancel the turn to end it", requestID)
	}
	taken := item.Entry{Kind: item.Withdrawn{RequestIDs: []string{requestID}}}
	if _, _, err := a.commit(ctx, store.Batch{Entries: []item.Entry{taken}, Dequeue: []item.Seq{seq}}, a.situation); err != nil {
		return err
	}
	a.leave([]item.Seq{seq})
	return nil
}

// leave forgets submits that are no longer in the stored inbox.
func (a *actor) leave(seqs []item.Seq) {
	a.inbox = slices.DeleteFunc(slices.Clone(a.inbox), func(s worker.Submit) bool { return slices.Contains(seqs, s.Seq) })
	for _, seq := range seqs {
		delete(a.taken, seq)
	}
}

// steered takes the submits that are meant for the running turn.
func (a *actor) steered() []worker.Submit {
	var out []worker.Submit
	for _, s := range a.inbox {
		if s.Mode == item.ModeSteer && !a.taken[s.Seq] {
			a.taken[s.Seq] = true
			out = append(out, s)
		}
	}
	return out
}
