package letters

import (
	"context"
	"fmt"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// A letter whose recipient can't be reached is a pending entry of the sender's log, with all that is to be delivered. So
// podd loads the sender when it starts, here or on the node that gets the pod, and tries again until the letter has arrived
// or never can. The entry that says so ends it; what the sender has to know of it is in the same commit.

// The delay before podd tries again to deliver the letters of a pod grows from firstWait to mostWait.
const (
	firstWait = time.Second
	mostWait  = 15 * time.Second
)

// onItsWay is the object of an entry that is pending while a letter is on its way.
type onItsWay struct {
	sent
	// Number and Turn are of the sender.
	Number item.Seq `json:"number"`
	Turn   int64    `json:"turn"`
	Text   string   `json:"text"`
	Wake   bool     `json:"wake"`
}

// ended is the object of an entry by which a letter is no longer on its way. Cause says why it did not arrive; it is empty
// if it did.
type ended struct {
	From   string   `json:"from"`
	Number item.Seq `json:"number"`
	Cause  string   `json:"cause,omitempty"`
}

// unreached says whether an error leaves open that the recipient has the letter, or can get it later.
func unreached(err error) bool { return item.KindOf(err) == item.KindUnavailable }

// deliver stores a letter in the recipient's log, here or on its node. A second time it changes nothing.
func (w *Letters) deliver(ctx context.Context, name string, l onItsWay) error {
	r := &poddv1.DeliverLetterRequest{
		Pod: l.To, Text: l.Text, From: l.From, FromName: name, Turn: l.Turn, Number: int64(l.Number),
		ReplyTo: int64(l.ReplyTo), Wake: l.Wake, Hops: int32(l.Hops), After: int64(l.After), //nolint:gosec // Few.
	}
	_, err := w.Send(ctx, r, poddv1.LetterService_DeliverLetter_FullMethodName, func(ctx context.Context, r any) (any, error) {
		return &poddv1.DeliverLetterResponse{}, w.store(ctx, r.(*poddv1.DeliverLetterRequest))
	})
	if err = wire.FromStatus(err); item.ReasonOf(err) == store.ReasonPodNotFound {
		err = item.Errorf(item.KindNotFound, store.ReasonPodNotFound, "the pod was deleted")
	}
	return err
}

// postpone records that a letter is on its way, and why it did not arrive yet.
func (w *Letters) postpone(ctx context.Context, own *pod.Hosted, l onItsWay, why error) error {
	cause := strings.ReplaceAll(why.Error(), l.To, l.Name)
	k, err := entryOf(kindOnItsWay, fmt.Sprintf("letter %d to %s is on its way: %s", l.Number, sanitize.Line(l.Name), sanitize.Line(cause)), l)
	if err != nil {
		return err
	}
	k.Pending = true
	if _, err = own.Record(ctx, func(time.Time, fold.State) []item.Kind { return []item.Kind{k} }); err == nil {
		w.carry(own.Pod.ID)
	}
	return err
}

// settled goes on with what is on its way of a pod that was loaded.
func (w *Letters) settled(p *pod.Hosted) {
	if len(p.State.Pending) > 0 {
		w.carry(p.Pod.ID)
	}
}

// carry delivers what is on its way of a pod, in one goroutine a pod. It does not wait.
func (w *Letters) carry(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, carries := w.carrying[id]; carries || w.ctx.Err() != nil {
		w.carrying[id] = true
		return
	}
	w.carrying[id] = false
	w.work.Go(func() {
		for again := true; again; {
			w.carryAll(id)
			w.mu.Lock()
			again = w.carrying[id]
			if w.carrying[id] = false; !again {
				delete(w.carrying, id)
			}
			w.mu.Unlock()
		}
	})
}

// Close ends the deliveries; the next podd goes on with them. It is called after the host ended.
func (w *Letters) Close() {
	w.mu.Lock()
	w.cancel()
	w.mu.Unlock()
	w.work.Wait()
}

// carryAll delivers what is on its way of a pod until nothing is, or the pod leaves memory: it goes on where that is loaded
// again.
func (w *Letters) carryAll(id string) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	p, release, err := w.Host.Keep(ctx, id)
	if err != nil {
		return
	}
	defer release()
	defer context.AfterFunc(p.Life(), cancel)()
	for wait := firstWait; !w.carried(ctx, id); wait = min(2*wait, mostWait) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// carried tries to deliver each letter of a pod that is on its way, and says whether none is any more. A letter does not
// overtake one to the same pod.
func (w *Letters) carried(ctx context.Context, id string) bool {
	p, release, err := w.Host.Keep(ctx, id)
	if err != nil {
		return false
	}
	defer release()
	waits := make(map[string]bool)
	for _, seq := range p.State.Pending {
		l, mine, err := w.pending(ctx, id, seq)
		switch {
		case err != nil:
			return false
		case !mine || waits[l.To]:
			continue
		case l.From == id: // A fork has the entry too.
			err = w.deliver(ctx, p.Pod.Name, l)
		}
		if ctx.Err() != nil {
			return false
		}
		if waits[l.To] = unreached(err); !waits[l.To] {
			waits[l.To] = w.end(ctx, p, seq, l, err) != nil
		}
	}
	for _, waiting := range waits {
		if waiting {
			return false
		}
	}
	return true
}

// pending reads a letter that is on its way. mine is false for an entry of another wing.
func (w *Letters) pending(ctx context.Context, id string, seq item.Seq) (l onItsWay, mine bool, err error) {
	err = w.Host.Logs.Entries(ctx, id, seq-1, only(wire.KindWing), func(e item.Entry) bool {
		l, mine = decode[onItsWay](e, kindOnItsWay)
		return false
	})
	return l, mine, err
}

// behind says that a letter to a pod is on its way, which the next one does not overtake.
func (w *Letters) behind(ctx context.Context, own *pod.Hosted, to string) error {
	for _, seq := range own.State.Pending {
		l, mine, err := w.pending(ctx, own.Pod.ID, seq)
		if err != nil {
			return err
		}
		if mine && l.To == to && l.From == own.Pod.ID {
			return item.Errorf(item.KindUnavailable, store.ReasonNodeAway, "letter %d to it is on its way, too", l.Number)
		}
	}
	return nil
}

// end records what became of a letter that was on its way. A failure is a note for the model, in the letter's place.
func (w *Letters) end(ctx context.Context, p *pod.Hosted, seq item.Seq, l onItsWay, failure error) error {
	line, cause := fmt.Sprintf("letter %d to %s arrived", l.Number, sanitize.Line(l.Name)), ""
	if failure != nil {
		cause = failure.Error()
		line = fmt.Sprintf("letter %d to %s failed: %s", l.Number, sanitize.Line(l.Name), sanitize.Line(cause))
	}
	if l.From != p.Pod.ID {
		line = ""
	}
	k, err := entryOf(kindEnded, line, ended{From: l.From, Number: l.Number, Cause: cause})
	if err != nil {
		return err
	}
	k.Done = seq
	all := []item.Kind{k}
	if failure != nil {
		text := fmt.Sprintf("Your letter %d to pod %s did not arrive: %s", l.Number, sanitize.Line(l.Name), sanitize.Terminal(cause))
		all = append(all, item.Note{Origin: item.OriginLetter, Ref: refOf(l.From, l.Number), Text: text, Wake: true})
	}
	_, err = p.Record(ctx, func(time.Time, fold.State) []item.Kind { return all })
	return err
}
