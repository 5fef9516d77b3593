package pod

import (
	"context"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// InboxItem is a waiting submit.
type InboxItem struct {
	worker.Submit
	Time time.Time
}

// waitingSubmits decodes the stored submits of a pod.
func waitingSubmits(pod string, stored []store.Waiting) (items []InboxItem, err error) {
	for _, w := range stored {
		e, err := w.Decode()
		if err != nil {
			return nil, damaged(pod, w.Seq, err)
		}
		if s, ok := e.Kind.(item.Submitted); ok {
			items = append(items, InboxItem{worker.Submit{Seq: w.Seq, Submitted: s}, e.Time})
		}
	}
	return items, nil
}

// inbox are the waiting submits of a loaded pod, the oldest first. The store has them
// too. It belongs to the pod's goroutine.
type inbox struct {
	items []worker.Submit
	// taken are those that the running turn is about to claim.
	taken map[item.Seq]bool
}

// load loads the stored submits.
func (in *inbox) load(pod string, stored []store.Waiting) error {
	waiting, err := waitingSubmits(pod, stored)
	for _, w := range waiting {
		in.items = append(in.items, w.Submit)
	}
	return err
}

// index is the index of a submit; below 0 if it does not wait.
func (in *inbox) index(requestID string) int {
	return slices.IndexFunc(in.items, func(s worker.Submit) bool { return s.RequestID == requestID })
}

// leave forgets submits that are no longer stored.
func (in *inbox) leave(seqs []item.Seq) {
	in.items = slices.DeleteFunc(slices.Clone(in.items), func(s worker.Submit) bool { return slices.Contains(seqs, s.Seq) })
	for _, seq := range seqs {
		delete(in.taken, seq)
	}
}

// steers says whether a submit is for the running turn.
func (in *inbox) steers() bool {
	return slices.ContainsFunc(in.items, in.isSteering)
}

// steered takes the submits for the running turn.
func (in *inbox) steered() []worker.Submit {
	var out []worker.Submit
	for _, s := range in.items {
		if in.isSteering(s) {
			in.taken[s.Seq] = true
			out = append(out, s)
		}
	}
	return out
}

func (in *inbox) isSteering(s worker.Submit) bool {
	return s.Mode == item.ModeSteer && !in.taken[s.Seq]
}

// Inbox are the waiting submits of a pod, the oldest first.
func (h *Host) Inbox(ctx context.Context, idOrName string) ([]InboxItem, error) {
	rec, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	waiting, err := h.Store.Inbox(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	return waitingSubmits(rec.ID, waiting)
}

// Withdraw removes a waiting submit. One that a turn has taken is KindPrecondition,
// reason TAKEN.
func (h *Host) Withdraw(ctx context.Context, idOrName, requestID string) error {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return err
	}
	defer release()
	doErr := a.mailbox.do(ctx, func() { err = a.withdraw(ctx, requestID) })
	if doErr != nil {
		return doErr
	}
	return err
}

func (a *actor) withdraw(ctx context.Context, requestID string) error {
	i := a.inbox.index(requestID)
	if i < 0 {
		return item.Errorf(item.KindNotFound, "NOT_WAITING", "pod %[2]s has no queued submit with request id %[1]q: podctl inbox lists the queue", requestID, a.journal.rec.Name)
	}
	seq := a.inbox.items[i].Seq
	if a.inbox.taken[seq] {
		return item.Errorf(item.KindPrecondition, "TAKEN", "a turn is starting with the submit %q: cancel the turn to stop it", requestID)
	}
	taken := item.Entry{Kind: item.Withdrawn{RequestIDs: []string{requestID}}}
	if _, _, err := a.journal.commit(ctx, store.Batch{Entries: []item.Entry{taken}, Dequeue: []item.Seq{seq}}); err != nil {
		return err
	}
	a.inbox.leave([]item.Seq{seq})
	if a.turns.now == nil && !a.journal.state.Turn.Open {
		a.settled()
	}
	return nil
}

// emptyInbox removes the waiting submits of a pod that ends because it was deleted.
func (a *actor) emptyInbox() {
	if item.KindOf(a.closing) != item.KindNotFound {
		return
	}
	for _, s := range slices.Clone(a.inbox.items) {
		delete(a.inbox.taken, s.Seq)
		if err := a.withdraw(a.host.base, s.RequestID); err != nil {
			a.log.Warn("cannot remove a queued submit of a deleted pod", "error", err)
			return
		}
	}
}
